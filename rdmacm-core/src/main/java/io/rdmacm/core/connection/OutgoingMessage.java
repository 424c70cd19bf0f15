// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;

/**
 * A message that is filled in where it is sent from, so that nothing is copied: fill in {@link #memory()}, then
 * {@link #send}. {@link #close()} discards a message that was not sent. For one thread at a time.
 *
 * <pre>{@code
 * try (OutgoingMessage message = connection.message(Long.BYTES, TIMEOUT)) {
 *     message.memory().set(ValueLayout.JAVA_LONG, 0, value);
 *     message.send(TIMEOUT);
 * }
 * }</pre>
 */
public final class OutgoingMessage implements AutoCloseable {
    private final Connection connection;
    private final int length;
    // null when sent or closed; changed with the lock of the connection held
    private volatile @Nullable RegisteredSlice slice;

    OutgoingMessage(Connection connection, RegisteredSlice slice, int length) {
        this.connection = connection;
        this.slice = slice;
        this.length = length;
    }

    /**
     * Returns where the message is to be written.
     *
     * @return a segment of the length of the message, with undefined content; not to be used after
     *         {@link #send} or {@link #close()}
     * @throws IllegalStateException when the message was sent or closed
     */
    public MemorySegment memory() {
        return slice().memory().asSlice(0, length);
    }

    /** {@return the length in bytes} */
    public int length() {
        return length;
    }

    /**
     * Sends the message ({@code IBV_WR_SEND}). Waits only while the send queue is full.
     *
     * @param timeout the longest time to wait
     * @throws IllegalStateException when the message was sent or closed
     * @throws RdmaException when the message was not sent, see {@link Connection}; it can be sent again if the
     *        exception is an RdmaTimeoutException
     * @throws InterruptedException when this thread was interrupted; the message was not sent
     */
    public void send(Duration timeout) throws RdmaException, InterruptedException {
        connection.send(this, false, 0, timeout);
    }

    /**
     * Sends the message with an immediate value ({@code IBV_WR_SEND_WITH_IMM}), like {@link #send}.
     *
     * @param immediate the value, in the byte order of this machine
     * @param timeout the longest time to wait
     * @throws IllegalStateException when the message was sent or closed
     * @throws IllegalArgumentException when the value is that of {@link ConnectionSettings.Builder#largeMessages}
     * @throws RdmaException when the message was not sent
     * @throws InterruptedException when this thread was interrupted; the message was not sent
     */
    public void sendWithImmediate(int immediate, Duration timeout) throws RdmaException, InterruptedException {
        connection.send(this, true, immediate, timeout);
    }

    /** Discards the message if it was not sent; has no effect otherwise. */
    @Override
    public void close() {
        connection.discard(this);
    }

    /** Returns the buffer; throws if it was sent or closed. */
    RegisteredSlice slice() {
        RegisteredSlice current = slice;
        if (current == null) {
            throw new IllegalStateException("the message was sent or closed");
        }
        return current;
    }

    /** Returns the buffer and forgets it; null if it was sent or closed. */
    @Nullable RegisteredSlice release() {
        RegisteredSlice released = slice;
        slice = null;
        return released;
    }

    @Override
    public String toString() {
        return "OutgoingMessage[" + length + " bytes]" + (slice == null ? " (sent or closed)" : "");
    }
}
