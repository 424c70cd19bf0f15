// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.RdmaException;

/**
 * A message that was received, in the buffer that it arrived in. {@link #close()} gives the buffer back for the next
 * one; what was got from {@link #memory()} must not be used any more then. For one thread at a time.
 *
 * <p>A message outlives its connection: it can still be read when that is closed.
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
     * The bytes, where they arrived.
     *
     * @throws IllegalStateException when closed
     */
    public MemorySegment memory() {
        if (closed) {
            throw new IllegalStateException("Message is closed");
        }
        return memory;
    }

    /** How many bytes there are. */
    public int length() {
        return (int) memory().byteSize();
    }

    /** A copy of the bytes. */
    public byte[] toArray() {
        return memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Gives the buffer back. Does nothing the second time. */
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
