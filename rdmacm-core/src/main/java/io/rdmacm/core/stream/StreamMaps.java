// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/** The memory that each side has mapped for the other one. Used with the lock of the stream held. */
final class StreamMaps {
    private final StreamQueues queues;
    // Of the peer: which entries of its list are in use, and what is to be written there.
    private final @Nullable StreamMapping[] mapped;
    private final ArrayDeque<StreamMapping> unpublished = new ArrayDeque<>();
    // Of this side: which entries the peer has written.
    private final BitSet arrived = new BitSet();
    private final int slots;

    StreamMaps(int slots, ConnectData peer, StreamQueues queues) {
        this.slots = slots;
        this.queues = queues;
        this.mapped = new StreamMapping[peer.mapSlots()];
    }

    /** Takes note of an entry that the peer has written. */
    void arrived(int index) throws StreamProtocolException {
        if (index >= slots) {
            throw new StreamProtocolException("it wrote mapping " + index + " of " + slots);
        }
        arrived.set(index);
    }

    /** Returns the index of the mapping of the peer that contains an offset, -1 if there is none. */
    int find(long offset) {
        for (int i = arrived.nextSetBit(0); i >= 0; i = arrived.nextSetBit(i + 1)) {
            long distance = offset - queues.mappedOffset(i);
            if (distance >= 0 && distance < queues.mappedLength(i)) {
                return i;
            }
        }
        return -1;
    }

    /** Registers memory for the peer, who is still to be told. */
    StreamMapping add(StreamCore core, MemorySegment memory, long offset) throws RdmaException {
        int index = 0;
        while (index < mapped.length && mapped[index] != null) {
            index++;
        }
        if (index == mapped.length) {
            throw new IllegalStateException("the peer has no free slot for a mapping: it has " + mapped.length);
        }
        MemoryRegion region = queues.domain().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        StreamMapping mapping = new StreamMapping(core, region, memory, offset, index);
        mapped[index] = mapping;
        unpublished.add(mapping);
        return mapping;
    }

    /** Returns the next mapping that the peer is to be told of, null if there is none. */
    @Nullable StreamMapping nextUnpublished() {
        return unpublished.peek();
    }

    void published() {
        unpublished.remove();
    }

    void remove(StreamMapping mapping) throws RdmaException {
        if (mapped[mapping.index()] == mapping) {
            mapping.region().close();
            mapped[mapping.index()] = null;
            unpublished.remove(mapping);
        }
    }

    void close() throws RdmaException {
        for (StreamMapping mapping : mapped) {
            if (mapping != null) {
                remove(mapping);
            }
        }
    }
}
