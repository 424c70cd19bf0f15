// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

/**
 * What a connection of any kind has sent and received so far: {@link io.rdmacm.core.connection.ConnectionCounters} and
 * {@link io.rdmacm.core.stream.StreamCounters} have more to tell.
 */
public interface TrafficCounters {
    /** {@return the messages that were handed to the device} */
    long messagesSent();

    /** {@return the bytes that were handed to the device} */
    long bytesSent();

    /** {@return the messages that have arrived} */
    long messagesReceived();

    /** {@return the bytes that have arrived} */
    long bytesReceived();
}
