// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;

/**
 * A received message, in the buffer that it arrived in. {@link #close()} makes the buffer available to the next
 * message; {@link #memory()} must not be used after that. For one thread at a time.
 *
 * <p>A message can still be read when its connection is closed.
 */
public final class Message implements AutoCloseable {
    private final Connection connection;
    private final MemorySegment memory;
    private final int index;
    private boolean closed;

    Message(Connection connection, MemorySegment memory, int index) {
        this.connection = connection;
        this.memory = memory;
        this.index = index;
    }

    /**
     * Returns the bytes, where they arrived.
     *
     * @throws IllegalStateException when the message is closed
     */
    public MemorySegment memory() {
        if (closed) {
            throw new IllegalStateException("Message is closed");
        }
        return memory;
    }

    /** Returns the length in bytes. */
    public int length() {
        return (int) memory().byteSize();
    }

    /** Returns a copy of the bytes. */
    public byte[] toArray() {
        return memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Gives the buffer back. Closing twice does nothing. */
    @Override
    public void close() throws RdmaException {
        if (!closed) {
            closed = true;
            connection.giveBack(index);
        }
    }

    @Override
    public String toString() {
        return "Message[" + memory.byteSize() + " bytes]" + (closed ? " (closed)" : "");
    }
}
