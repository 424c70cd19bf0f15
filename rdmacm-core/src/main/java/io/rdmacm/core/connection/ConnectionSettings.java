// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.Objects;

import io.rdmacm.core.ConnectionParameters;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one side of a {@link Connection}. Immutable. A connection takes {@code messageSize * receiveBuffers}
 * bytes of registered memory from the pool of its manager, with the message size rounded up to a multiple of 64, and
 * {@code messageSize} for each message that is in flight, up to {@code sendBuffers}.
 *
 * @param messageSize the largest message in bytes. A message that is longer than the message size of its receiver
 *        breaks the connection
 * @param receiveBuffers how many messages can arrive before they are received and closed; then the peer has to wait
 * @param sendBuffers how many messages can be in flight; then {@code send} waits
 * @param operations how many other operations can be in flight: reads, writes and atomic operations on the peer's
 *        memory, and messages that are sent from memory of the program; then further ones wait
 * @param parameters sent to the peer with the connect or the accept, with private data
 * @param handshakeTimeout how long {@link Listener#accept} waits for one peer to complete the handshake
 * @param linger how long a close waits for messages in flight and for the peer's answer to the disconnect
 * @param waiting how threads wait for the connection
 * @param handler told about messages and the end of the connection; null if the program receives them itself
 * @param loops who drives the connection; null if the threads that wait do so themselves
 */
public record ConnectionSettings(int messageSize, int receiveBuffers, int sendBuffers, int operations,
        ConnectionParameters parameters, Duration handshakeTimeout, Duration linger, WaitPolicy waiting,
        @Nullable ConnectionHandler handler, @Nullable ConnectionLoopGroup loops) {
    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException when a number is less than 1, when buffers and operations together are more than
     *         a completion queue could ever hold, or when a duration is negative
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
        Objects.requireNonNull(waiting, "waiting");
        if (handshakeTimeout.isNegative() || linger.isNegative()) {
            throw new IllegalArgumentException("negative duration: handshakeTimeout " + handshakeTimeout + ", linger "
                    + linger);
        }
    }

    /**
     * Returns the default settings.
     *
     * @return settings with messages of up to 4096 bytes, 16 send and 16 receive buffers, 16 operations, a handshake
     *         timeout of 10 seconds and a linger time of 5 seconds
     */
    public static ConnectionSettings defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, not " + value);
        }
    }

    /** Builds {@link ConnectionSettings}. */
    public static final class Builder {
        private int messageSize = 4096;
        private int receiveBuffers = 16;
        private int sendBuffers = 16;
        private int operations = 16;
        private ConnectionParameters parameters = ConnectionParameters.defaults();
        private Duration handshakeTimeout = Duration.ofSeconds(10);
        private Duration linger = Duration.ofSeconds(5);
        private WaitPolicy waiting = WaitPolicy.defaults();
        private @Nullable ConnectionHandler handler;
        private @Nullable ConnectionLoopGroup loops;

        private Builder() {
        }

        /**
         * Sets the size of the largest message.
         *
         * @param bytes at least 1; the default is 4096
         * @return this builder
         */
        public Builder messageSize(int bytes) {
            messageSize = bytes;
            return this;
        }

        /**
         * Sets how many messages can arrive before they are received and closed.
         *
         * @param count at least 1; the default is 16
         * @return this builder
         */
        public Builder receiveBuffers(int count) {
            receiveBuffers = count;
            return this;
        }

        /**
         * Sets how many messages can be in flight that the connection has a buffer for.
         *
         * @param count at least 1; the default is 16
         * @return this builder
         */
        public Builder sendBuffers(int count) {
            sendBuffers = count;
            return this;
        }

        /**
         * Sets how many other operations can be in flight: reads, writes and atomic operations on the peer's memory,
         * and messages that are sent from memory of the program.
         *
         * @param count at least 1; the default is 16
         * @return this builder
         */
        public Builder operations(int count) {
            operations = count;
            return this;
        }

        /**
         * Sets the parameters, with the private data, that are sent with the connect or the accept.
         *
         * @param value with at most 56 bytes of private data for a connect, 196 for an accept
         * @return this builder
         */
        public Builder parameters(ConnectionParameters value) {
            parameters = value;
            return this;
        }

        /**
         * Sets the private data that is sent with the connect or the accept, and all other parameters to their
         * defaults.
         *
         * @param data at most 56 bytes for a connect, 196 for an accept
         * @return this builder
         */
        public Builder privateData(byte[] data) {
            return parameters(ConnectionParameters.builder().privateData(data).build());
        }

        /**
         * Sets how long {@link Listener#accept} waits for one peer to complete the handshake.
         *
         * @param timeout not negative; the default is 10 seconds
         * @return this builder
         */
        public Builder handshakeTimeout(Duration timeout) {
            handshakeTimeout = timeout;
            return this;
        }

        /**
         * Sets how long a close waits for messages in flight and for the peer's answer to the disconnect.
         *
         * @param timeout not negative; the default is 5 seconds
         * @return this builder
         */
        public Builder linger(Duration timeout) {
            linger = timeout;
            return this;
        }

        /**
         * Sets how threads wait for the connection.
         *
         * @param policy the default is {@link WaitPolicy#defaults()}; the threads of a loop have their own
         * @return this builder
         */
        public Builder waiting(WaitPolicy policy) {
            waiting = policy;
            return this;
        }

        /**
         * Sets who is told about messages and the end of the connection, instead of threads that wait in
         * {@link Connection#receive}.
         *
         * @param value the handler, which may serve any number of connections; null for none, which is the default
         * @return this builder
         */
        public Builder handler(@Nullable ConnectionHandler value) {
            handler = value;
            return this;
        }

        /**
         * Sets who drives the connection: polls its completions and calls its handlers.
         *
         * @param group a loop or a group of them, of the same manager; null, which is the default, to give the
         *        connection a completion queue of its own that is polled by the threads that wait
         * @return this builder
         */
        public Builder loops(@Nullable ConnectionLoopGroup group) {
            loops = group;
            return this;
        }

        /**
         * Returns the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when one of them is out of its range
         */
        public ConnectionSettings build() {
            return new ConnectionSettings(messageSize, receiveBuffers, sendBuffers, operations, parameters,
                    handshakeTimeout, linger, waiting, handler, loops);
        }
    }
}
