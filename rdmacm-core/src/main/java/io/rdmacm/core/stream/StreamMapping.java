// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;

/**
 * Memory that the peer of a stream can write to directly ({@code riomap}), created by {@link RdmaStream#map}. Closing
 * the stream closes its mappings too. All methods may be called from any thread.
 */
public final class StreamMapping implements AutoCloseable {
    private final StreamCore core;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final long offset;
    private final int index;

    StreamMapping(StreamCore core, MemoryRegion region, MemorySegment memory, long offset, int index) {
        this.core = core;
        this.region = region;
        this.memory = memory;
        this.offset = offset;
        this.index = index;
    }

    /** {@return the memory} */
    public MemorySegment memory() {
        return memory;
    }

    /** {@return the offset by which the peer names the first byte of the memory} */
    public long offset() {
        return offset;
    }

    /**
     * Takes the memory away from the peer ({@code riounmap}). The peer is not told; if it writes to the memory
     * afterwards, its device is refused and the stream breaks. Has no effect when called again.
     *
     * @throws RdmaException when the memory could not be deregistered
     */
    @Override
    public void close() throws RdmaException {
        core.unmap(this);
    }

    MemoryRegion region() {
        return region;
    }

    /** Returns the index in the list of the peer. */
    int index() {
        return index;
    }

    @Override
    public String toString() {
        return "StreamMapping[" + memory.byteSize() + " bytes at offset " + offset + "]";
    }
}
