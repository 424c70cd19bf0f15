// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.ArrayDeque;

import io.netty.util.ReferenceCounted;

/** The buffers that the device still reads from, in the order in which they were written. Thread-safe. */
final class LentBuffers {
    private final ArrayDeque<Loan> loans = new ArrayDeque<>();
    private volatile boolean empty = true;

    /** A buffer, and what {@code releasedBytes} of the stream must have reached before it may be freed. */
    private record Loan(ReferenceCounted buffer, long until) {
    }

    /** Keeps a buffer, which is retained. */
    synchronized void add(ReferenceCounted buffer, long until) {
        Loan last = loans.peekLast();
        if (last != null && last.buffer() == buffer) {
            loans.removeLast();
        } else {
            buffer.retain();
        }
        loans.add(new Loan(buffer, until));
        empty = false;
    }

    boolean isEmpty() {
        return empty;
    }

    /** Frees the buffers that the device has read. */
    synchronized void release(long released) {
        for (Loan first = loans.peek(); first != null && first.until() <= released; first = loans.peek()) {
            loans.remove();
            first.buffer().release();
        }
        empty = loans.isEmpty();
    }
}
