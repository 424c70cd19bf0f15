// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Memory that the peer of a stream can write to directly ({@code riomap}), created by {@link RdmaStream#map}. Closing
 * the stream closes its mappings too.
 */
public final class StreamMapping implements AutoCloseable {
    private final MemorySegment memory;
    private final long offset;

    StreamMapping(MemorySegment memory, long offset) {
        this.memory = memory;
        this.offset = offset;
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
        throw new UnsupportedOperationException();
    }
}
