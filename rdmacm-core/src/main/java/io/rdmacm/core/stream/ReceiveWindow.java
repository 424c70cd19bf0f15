// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

/**
 * What the peer may send: how many bytes, to which part of the receive buffer, and how many messages. The buffer is a
 * ring of two halves. A half is granted to the peer when it is free, and filled from its beginning.
 *
 * <p>Used with the lock of the stream held, except for the methods of the reader, which are marked.
 */
final class ReceiveWindow {
    private final int size;
    private final int half;
    private final int queueSize;
    // Bytes since the beginning: consumed <= arrived <= granted <= consumed + size.
    private long granted;
    private volatile long arrived;
    // written by the reader
    private volatile long consumed;
    // Messages since the beginning: messages <= allowed <= messages + queueSize.
    private long messages;
    private long allowed;

    /**
     * Creates a window whose first half has been granted with the connect.
     *
     * @param size of the buffer, even
     * @param queueSize how many messages the peer may send at first
     */
    ReceiveWindow(int size, int queueSize) {
        this.size = size;
        this.half = size / 2;
        this.queueSize = queueSize;
        this.granted = half;
        this.allowed = queueSize;
    }

    /** Takes note of data that has arrived. */
    void arrived(int length) throws StreamProtocolException {
        countMessage();
        if (length == 0 || length > granted - arrived) {
            throw new StreamProtocolException("it sent " + length + " bytes of the " + (granted - arrived)
                    + " that it was granted");
        }
        arrived += length;
    }

    /** Takes note of a message that needs a credit. */
    void countMessage() throws StreamProtocolException {
        if (messages == allowed) {
            throw new StreamProtocolException("it sent a message without a credit");
        }
        messages++;
    }

    /** Returns how many messages there were. */
    long messages() {
        return messages;
    }

    /** Returns how many bytes have arrived since the beginning. */
    long bytesReceived() {
        return arrived;
    }

    /** Returns how many bytes can be read. For the reader. */
    int available() {
        return (int) (arrived - consumed);
    }

    /** Returns where in the buffer the next byte to be read is. For the reader. */
    int readOffset() {
        return (int) (consumed % size);
    }

    /** Frees bytes that were read. For the reader. */
    void consume(int length) {
        consumed += length;
    }

    /** Returns whether a half of the buffer can be granted. For the reader as well, who may see it late. */
    boolean hasFreeHalf() {
        return size - (granted - consumed) >= half;
    }

    /** Returns whether enough messages have arrived to tell the peer that it may send more. */
    boolean owesCredits() {
        return allowed - messages <= queueSize / 2;
    }

    /** Returns where in the buffer the half is that is granted next. */
    int grantOffset() {
        return (int) (granted % size);
    }

    /** Returns the length of a half. */
    int half() {
        return half;
    }

    void grantHalf() {
        granted += half;
    }

    /** Grants credits, and returns the number of the last message that may be sent, 16 bits. */
    int grantCredits() {
        allowed = messages + queueSize;
        return (int) allowed & 0xFFFF;
    }
}
