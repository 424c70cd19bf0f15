// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * A received message, in the buffer that it arrived in. {@link #close()} makes the buffer available for another
 * message; do not use a segment that {@link #memory()} has returned after that. For one thread at a time.
 *
 * <p>A write with an immediate value, by which the peer has written to this side's memory, is received as a message,
 * too ({@link #isRemoteWrite()}): it has no bytes here, but the length of what was written.
 *
 * <p>A message can still be read after its connection was closed.
 */
public final class Message implements AutoCloseable {
    private final Connection connection;
    // null when closed; changed with the lock of the connection held
    private volatile @Nullable ReceiveBuffer buffer;

    Message(Connection connection, ReceiveBuffer buffer) {
        this.connection = connection;
        this.buffer = buffer;
    }

    /** Returns the buffer and forgets it, null if this message is closed. */
    @Nullable ReceiveBuffer release() {
        @Nullable ReceiveBuffer released = buffer;
        buffer = null;
        return released;
    }

    /**
     * Returns the bytes of the message, in the buffer that they arrived in: nothing is copied.
     *
     * @return a segment of the length of the message, to be used until {@link #close()}; empty for a remote write
     * @throws IllegalStateException when the message is closed
     */
    public MemorySegment memory() {
        return buffer().data();
    }

    /** {@return the length in bytes, for a remote write that of what was written} */
    public int length() {
        return buffer().length();
    }

    /** {@return a copy of the bytes} */
    public byte[] toArray() {
        return memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /** {@return whether the message was sent with an immediate value} */
    public boolean hasImmediate() {
        return buffer().hasImmediate();
    }

    /**
     * Returns the immediate value.
     *
     * @return the value, in the byte order of this machine; 0 if there is none
     */
    public int immediate() {
        return buffer().immediate();
    }

    /**
     * Returns whether this is a write to this side's memory with an immediate value
     * ({@code IBV_WC_RECV_RDMA_WITH_IMM}), and no message.
     *
     * @return true if the bytes are in the memory that the peer has written to
     */
    public boolean isRemoteWrite() {
        return buffer().isRemoteWrite();
    }

    /**
     * Takes the message out of a handler: the buffer stays occupied until the returned message is closed.
     *
     * @return the message; this object is closed
     * @throws IllegalStateException when this message is closed
     */
    public Message retain() {
        return connection.retain(this);
    }

    /**
     * Makes the buffer available for another message. Has no effect when called again, or after the connection has
     * ended.
     *
     * @throws RdmaException when the device refuses the buffer
     */
    @Override
    public void close() throws RdmaException {
        connection.giveBack(this);
    }

    /** Returns the buffer; throws if this message is closed. */
    ReceiveBuffer buffer() {
        ReceiveBuffer current = buffer;
        if (current == null) {
            throw new IllegalStateException("Message is closed");
        }
        return current;
    }

    @Override
    public String toString() {
        ReceiveBuffer current = buffer;
        return current == null ? "Message (closed)" : "Message[" + current.length() + " bytes]";
    }
}
