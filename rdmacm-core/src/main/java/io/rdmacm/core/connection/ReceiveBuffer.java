// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;

/** A buffer for one message, with the receive request that posts it, and a description of what has arrived in it. */
final class ReceiveBuffer {
    private final Owner owner;
    private final RegisteredSlice slice;
    private final MemorySegment memory;
    // null for a message that was read
    private final @Nullable ReceiveRequests requests;
    private final int index;
    // the part of the memory that was asked for last: messages often have the same length
    private MemorySegment part;
    private boolean held;
    private int length;
    private boolean remoteWrite;
    private boolean hasImmediate;
    private int immediate;

    /**
     * Creates a buffer.
     *
     * @param owner the buffers that this one belongs to
     * @param slice the memory
     * @param requests the block that has the receive request of this buffer, which is already set
     * @param index the index of the request in the block
     */
    ReceiveBuffer(Owner owner, RegisteredSlice slice, @Nullable ReceiveRequests requests, int index) {
        this.owner = owner;
        this.slice = slice;
        this.memory = slice.memory();
        this.requests = requests;
        this.index = index;
        this.part = memory;
    }

    /** Creates a buffer that no receive request posts. */
    ReceiveBuffer(Owner owner, RegisteredSlice slice) {
        this(owner, slice, null, 0);
    }

    /** To whom a buffer belongs. */
    @FunctionalInterface
    interface Owner {
        /** Takes a buffer back whose message was closed. */
        void giveBack(ReceiveBuffer buffer) throws RdmaException;
    }

    Owner owner() {
        return owner;
    }

    RegisteredSlice slice() {
        return slice;
    }

    ReceiveRequests requests() {
        return Objects.requireNonNull(requests);
    }

    /** Returns the index of the request in its block. */
    int index() {
        return index;
    }

    /** Returns whether something has arrived in this buffer that is still in use. */
    boolean isHeld() {
        return held;
    }

    void held(boolean inUse) {
        held = inUse;
    }

    /** Describes what has arrived. */
    void arrived(int bytes, boolean written, boolean withImmediate, int value) {
        length = bytes;
        remoteWrite = written;
        hasImmediate = withImmediate;
        immediate = value;
    }

    /** Returns the bytes that have arrived in this buffer: none for a remote write. */
    MemorySegment data() {
        long bytes = remoteWrite ? 0 : length;
        if (part.byteSize() != bytes) {
            part = memory.asSlice(0, bytes);
        }
        return part;
    }

    int length() {
        return length;
    }

    boolean isRemoteWrite() {
        return remoteWrite;
    }

    boolean hasImmediate() {
        return hasImmediate;
    }

    int immediate() {
        return immediate;
    }
}
