// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;

/**
 * A received message, in the buffer that it arrived in. {@link #close()} makes the buffer available for another
 * message; do not use a segment that {@link #memory()} has returned after that. For one thread at a time.
 *
 * <p>A message can still be read after its connection was closed.
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
     * Returns the bytes of the message, in the buffer that they arrived in: nothing is copied.
     *
     * @return a segment of the length of the message, to be used until {@link #close()}
     * @throws IllegalStateException when the message is closed
     */
    public MemorySegment memory() {
        if (closed) {
            throw new IllegalStateException("Message is closed");
        }
        return memory;
    }

    /** {@return the length in bytes} */
    public int length() {
        return (int) memory().byteSize();
    }

    /** {@return a copy of the bytes} */
    public byte[] toArray() {
        return memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * Makes the buffer available for another message. Has no effect when called again, or after the connection has
     * ended.
     *
     * @throws RdmaException when the device refuses the buffer
     */
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
