// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import io.rdmacm.core.TrafficCounters;

/**
 * What a stream has done so far. Immutable. Its messages are those of the protocol: one for each piece of data that is
 * written to the peer's buffer, and those that say how much more may be sent.
 */
public final class StreamCounters implements TrafficCounters {
    private final long messagesSent;
    private final long bytesSent;
    private final long messagesReceived;
    private final long bytesReceived;

    StreamCounters(long messagesSent, long bytesSent, long messagesReceived, long bytesReceived) {
        this.messagesSent = messagesSent;
        this.bytesSent = bytesSent;
        this.messagesReceived = messagesReceived;
        this.bytesReceived = bytesReceived;
    }

    /** {@return the messages that needed a credit of the peer and were handed to the device} */
    @Override
    public long messagesSent() {
        return messagesSent;
    }

    /** {@return the bytes of the stream that were handed to the device} */
    @Override
    public long bytesSent() {
        return bytesSent;
    }

    /** {@return the messages that needed a credit and have arrived} */
    @Override
    public long messagesReceived() {
        return messagesReceived;
    }

    /** {@return the bytes of the stream that have arrived, read or not} */
    @Override
    public long bytesReceived() {
        return bytesReceived;
    }

    @Override
    public String toString() {
        return "StreamCounters[messagesSent=" + messagesSent + ", bytesSent=" + bytesSent + ", messagesReceived="
                + messagesReceived + ", bytesReceived=" + bytesReceived + "]";
    }
}
