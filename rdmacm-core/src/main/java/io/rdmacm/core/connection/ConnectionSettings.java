// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.Objects;

import io.rdmacm.core.ConnectionParameters;

/**
 * What a {@link Connection} is made with. Immutable.
 *
 * @param messageSize how many bytes a message may have; the peer's must be at least as large as what is sent to it
 * @param receiveBuffers how many messages can arrive before they are received and closed; the peer waits then
 * @param sendBuffers how many messages can be on their way
 * @param operations how many reads and writes of the peer's memory can be on their way
 * @param parameters what is agreed when connecting, and the private data
 * @param handshakeTimeout how long {@link Listener#accept} waits for one peer to complete the handshake
 * @param linger how long a close waits for messages that are on their way, and for the peer's farewell
 */
public record ConnectionSettings(int messageSize, int receiveBuffers, int sendBuffers, int operations,
        ConnectionParameters parameters, Duration handshakeTimeout, Duration linger) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is less than 1, there are more buffers and operations together than a
     *         completion queue could hold, or a duration is negative
     */
    public ConnectionSettings {
        requirePositive("messageSize", messageSize);
        requirePositive("receiveBuffers", receiveBuffers);
        requirePositive("sendBuffers", sendBuffers);
        requirePositive("operations", operations);
        long requests = (long) receiveBuffers + sendBuffers + operations;
        if (requests > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("receiveBuffers, sendBuffers and operations must be at most "
                    + Integer.MAX_VALUE + " together, not " + requests);
        }
        Objects.requireNonNull(parameters, "parameters");
        if (handshakeTimeout.isNegative() || linger.isNegative()) {
            throw new IllegalArgumentException("negative duration: handshakeTimeout " + handshakeTimeout + ", linger "
                    + linger);
        }
    }

    /** Messages of 4096 bytes, 16 buffers each way, 16 operations, a handshake in 10 seconds, a linger of 5. */
    public static ConnectionSettings defaults() {
        return builder().build();
    }

    /** Begins with the values of {@link #defaults()}. */
    public static Builder builder() {
        return new Builder();
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, not " + value);
        }
    }

    /** Makes {@link ConnectionSettings}. */
    public static final class Builder {
        private int messageSize = 4096;
        private int receiveBuffers = 16;
        private int sendBuffers = 16;
        private int operations = 16;
        private ConnectionParameters parameters = ConnectionParameters.defaults();
        private Duration handshakeTimeout = Duration.ofSeconds(10);
        private Duration linger = Duration.ofSeconds(5);

        private Builder() {
        }

        /** How many bytes a message may have. */
        public Builder messageSize(int bytes) {
            messageSize = bytes;
            return this;
        }

        /** How many messages can arrive before they are received and closed. */
        public Builder receiveBuffers(int count) {
            receiveBuffers = count;
            return this;
        }

        /** How many messages can be on their way. */
        public Builder sendBuffers(int count) {
            sendBuffers = count;
            return this;
        }

        /** How many reads and writes of the peer's memory can be on their way. */
        public Builder operations(int count) {
            operations = count;
            return this;
        }

        /** What is agreed when connecting, and the private data. */
        public Builder parameters(ConnectionParameters value) {
            parameters = value;
            return this;
        }

        /** The private data that goes along with the connect or the accept; the other parameters as by default. */
        public Builder privateData(byte[] data) {
            return parameters(ConnectionParameters.builder().privateData(data).build());
        }

        /** How long {@link Listener#accept} waits for one peer to complete the handshake. */
        public Builder handshakeTimeout(Duration timeout) {
            handshakeTimeout = timeout;
            return this;
        }

        /** How long a close waits for messages that are on their way, and for the peer's farewell. */
        public Builder linger(Duration timeout) {
            linger = timeout;
            return this;
        }

        /** The settings. */
        public ConnectionSettings build() {
            return new ConnectionSettings(messageSize, receiveBuffers, sendBuffers, operations, parameters,
                    handshakeTimeout, linger);
        }
    }
}
