// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

/**
 * What is in flight: work requests, bytes of the send buffer, and bytes that were lent by the program. Requests are
 * numbered, and complete in order. Only some of them are signaled; the completion of one is that of all before it.
 *
 * <p>One thread writes, and another one completes with the lock of the stream held.
 */
final class SendLedger {
    // One signal for each of so many parts of the queue and of the buffer.
    private static final int PARTS = 4;

    private final int capacity;
    private final int size;
    // By the number of the request: how many bytes were in use altogether after it.
    private final long[] bufferedEnds;
    private final long[] lentEnds;
    // used by the writer
    private int unsignaled;
    private int unsignaledBytes;
    private volatile long posted;
    private volatile long buffered;
    private volatile long lent;
    private volatile long completed;
    private volatile long freed;
    private volatile long released;

    /**
     * Creates an empty ledger.
     *
     * @param capacity how many requests can be in flight
     * @param size of the send buffer in bytes
     */
    SendLedger(int capacity, int size) {
        this.capacity = capacity;
        this.size = size;
        this.bufferedEnds = new long[capacity];
        this.lentEnds = new long[capacity];
    }

    boolean hasRequest() {
        return posted - completed < capacity;
    }

    /** Returns how many bytes of the buffer are free. */
    int free() {
        return size - (int) (buffered - freed);
    }

    /** Returns where in the buffer the next byte goes. */
    int offset() {
        return (int) (buffered % size);
    }

    long lent() {
        return lent;
    }

    long released() {
        return released;
    }

    /** Returns the number of the next request. */
    long next() {
        return posted;
    }

    /** Takes note of a request before it is posted, and returns whether it is to be signaled. For the writer. */
    boolean post(int bufferedBytes, int lentBytes) {
        int index = (int) (posted % capacity);
        long bufferedEnd = buffered + bufferedBytes;
        long lentEnd = lent + lentBytes;
        bufferedEnds[index] = bufferedEnd;
        lentEnds[index] = lentEnd;
        buffered = bufferedEnd;
        lent = lentEnd;
        posted++;
        unsignaled++;
        unsignaledBytes += bufferedBytes;
        boolean signal = lentBytes > 0 || unsignaled >= capacity / PARTS || unsignaledBytes >= size / PARTS;
        if (signal) {
            unsignaled = 0;
            unsignaledBytes = 0;
        }
        return signal;
    }

    /** Takes the completion of a request. */
    void complete(long number) {
        if (number >= completed && number < posted) {
            int index = (int) (number % capacity);
            freed = bufferedEnds[index];
            released = lentEnds[index];
            completed = number + 1;
        }
    }

    /** Releases everything: the queue pair has been destroyed. */
    void abandon() {
        released = lent;
    }
}
