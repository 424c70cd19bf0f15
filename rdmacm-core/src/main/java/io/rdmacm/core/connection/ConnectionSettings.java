// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.work.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one side of a {@link Connection}. Immutable. A connection takes {@code messageSize * receiveBuffers}
 * bytes of registered memory from the pool of its manager, with the message size rounded up to a multiple of 64, and
 * {@code messageSize} for each message that is in flight, up to {@code sendBuffers}. With large messages, it also takes
 * {@code largeMessageSize * largeMessages} bytes, each buffer when it is first needed.
 */
public final class ConnectionSettings {
    private static final int MOST_TYPE_OF_SERVICE = 255;
    private static final Duration LEAST_KEEP_ALIVE = Duration.ofMillis(1);

    private final int messageSize;
    private final int receiveBuffers;
    private final int sendBuffers;
    private final int operations;
    private final ConnectionParameters parameters;
    private final Duration handshakeTimeout;
    private final Duration linger;
    private final Duration keepAlive;
    private final @Nullable AckTimeout ackTimeout;
    private final int typeOfService;
    private final byte[] route;
    private final @Nullable InetSocketAddress localAddress;
    private final WaitPolicy waiting;
    private final int inlineSize;
    private final int scatterGather;
    private final boolean agreedSizes;
    private final int largeMessageSize;
    private final int largeMessages;
    private final int asyncLimit;
    private final AsyncOverflow asyncOverflow;
    private final @Nullable Function<? super Connection, ? extends ConnectionHandler> handlers;
    private final @Nullable ConnectionLoopGroup loops;

    private ConnectionSettings(Builder builder) {
        messageSize = builder.messageSize;
        receiveBuffers = builder.receiveBuffers;
        sendBuffers = builder.sendBuffers;
        operations = builder.operations;
        parameters = Objects.requireNonNull(builder.parameters, "parameters");
        handshakeTimeout = builder.handshakeTimeout;
        linger = builder.linger;
        keepAlive = builder.keepAlive;
        ackTimeout = builder.ackTimeout;
        typeOfService = builder.typeOfService;
        route = builder.route;
        localAddress = builder.localAddress;
        waiting = Objects.requireNonNull(builder.waiting, "waiting");
        inlineSize = builder.inlineSize;
        scatterGather = builder.scatterGather;
        agreedSizes = builder.agreedSizes || builder.largeMessages > 0;
        largeMessageSize = builder.largeMessageSize;
        largeMessages = builder.largeMessages;
        asyncLimit = builder.asyncLimit;
        asyncOverflow = Objects.requireNonNull(builder.asyncOverflow, "asyncOverflow");
        handlers = builder.handlers;
        loops = builder.loops;
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

    /** {@return a builder that starts with the values of these settings} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.messageSize = messageSize;
        builder.receiveBuffers = receiveBuffers;
        builder.sendBuffers = sendBuffers;
        builder.operations = operations;
        builder.parameters = parameters;
        builder.handshakeTimeout = handshakeTimeout;
        builder.linger = linger;
        builder.keepAlive = keepAlive;
        builder.ackTimeout = ackTimeout;
        builder.typeOfService = typeOfService;
        builder.route = route;
        builder.localAddress = localAddress;
        builder.waiting = waiting;
        builder.inlineSize = inlineSize;
        builder.scatterGather = scatterGather;
        builder.agreedSizes = agreedSizes;
        builder.largeMessageSize = largeMessageSize;
        builder.largeMessages = largeMessages;
        builder.asyncLimit = asyncLimit;
        builder.asyncOverflow = asyncOverflow;
        builder.handlers = handlers;
        builder.loops = loops;
        return builder;
    }

    /**
     * {@return the largest message in bytes; a message that is longer than the message size of its receiver breaks the
     * connection}
     */
    public int messageSize() {
        return messageSize;
    }

    /** {@return how many messages can arrive before they are received and closed; then the peer has to wait} */
    public int receiveBuffers() {
        return receiveBuffers;
    }

    /** {@return how many messages can be in flight; then {@code send} waits} */
    public int sendBuffers() {
        return sendBuffers;
    }

    /**
     * {@return how many other operations can be in flight: reads, writes and atomic operations on the peer's memory,
     * and messages that are sent from memory of the program; then further ones wait}
     */
    public int operations() {
        return operations;
    }

    /** {@return what is sent to the peer with the connect or the accept, with private data} */
    public ConnectionParameters parameters() {
        return parameters;
    }

    /** {@return how long {@link Listener#accept} waits for one peer to complete the handshake} */
    public Duration handshakeTimeout() {
        return handshakeTimeout;
    }

    /** {@return how long a close waits for messages in flight and for the peer's answer to the disconnect} */
    public Duration linger() {
        return linger;
    }

    /** {@return how often an idle connection checks that the peer can be reached; zero for never} */
    public Duration keepAlive() {
        return keepAlive;
    }

    /**
     * {@return how long the device waits for an acknowledgement ({@code RDMA_OPTION_ID_ACK_TIMEOUT}); empty for what
     * the route says}
     */
    public Optional<AckTimeout> ackTimeout() {
        return Optional.ofNullable(ackTimeout);
    }

    /** {@return the IP type of service, or traffic class, of a connection that this side begins, 0 to 255} */
    public int typeOfService() {
        return typeOfService;
    }

    /**
     * {@return path records to connect with, instead of asking the subnet manager: one or more
     * {@code struct ibv_path_data}; empty for none}
     */
    public byte[] route() {
        return route.clone();
    }

    /** {@return where a connection that this side begins comes from; empty for what leads to the peer} */
    public Optional<InetSocketAddress> localAddress() {
        return Optional.ofNullable(localAddress);
    }

    /** {@return how threads wait for the connection} */
    public WaitPolicy waiting() {
        return waiting;
    }

    /** {@return how many parts of memory one operation can have, see {@link io.rdmacm.core.ScatterGatherList}} */
    public int scatterGather() {
        return scatterGather;
    }

    /** {@return whether this side tells the peer how large a message it receives, and asks for the same} */
    public boolean agreedSizes() {
        return agreedSizes;
    }

    /** {@return the largest message in bytes that is longer than {@link #messageSize()}; 0 for none} */
    public int largeMessageSize() {
        return largeMessageSize;
    }

    /** {@return how many such messages can arrive before they are closed; 0 for none} */
    public int largeMessages() {
        return largeMessages;
    }

    /** {@return how many operations of {@link Connection#async()} can wait for room} */
    public int asyncLimit() {
        return asyncLimit;
    }

    /** {@return what becomes of further ones} */
    public AsyncOverflow asyncOverflow() {
        return asyncOverflow;
    }

    /** {@return the largest message in bytes that is passed to the device in its work request; 0 for none} */
    public int inlineSize() {
        return inlineSize;
    }

    /**
     * {@return who is told about messages and the end of each connection; empty if the program receives them itself}
     */
    public Optional<Function<? super Connection, ? extends ConnectionHandler>> handlers() {
        return Optional.ofNullable(handlers);
    }

    /** {@return who drives the connection; empty if the threads that wait do so themselves} */
    public Optional<ConnectionLoopGroup> loops() {
        return Optional.ofNullable(loops);
    }

    /** {@return whether the other object has the same settings; handlers and loops are the same objects} */
    @Override
    public boolean equals(Object other) {
        return other instanceof ConnectionSettings that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(messageSize, receiveBuffers, sendBuffers, operations, parameters, handshakeTimeout, linger,
                keepAlive, ackTimeout, typeOfService, ByteBuffer.wrap(route), localAddress, waiting, inlineSize,
                scatterGather, agreedSizes, largeMessageSize, largeMessages, asyncLimit, asyncOverflow, handlers,
                loops);
    }

    @Override
    public String toString() {
        return "ConnectionSettings[messageSize=" + messageSize + ", receiveBuffers=" + receiveBuffers
                + ", sendBuffers=" + sendBuffers + ", operations=" + operations + ", parameters=" + parameters
                + ", handshakeTimeout=" + handshakeTimeout + ", linger=" + linger + ", keepAlive=" + keepAlive
                + ", ackTimeout=" + ackTimeout + ", typeOfService=" + typeOfService + ", route=" + route.length
                + " bytes, localAddress=" + localAddress + ", waiting=" + waiting + ", inlineSize=" + inlineSize
                + ", scatterGather=" + scatterGather + ", agreedSizes=" + agreedSizes + ", largeMessageSize="
                + largeMessageSize + ", largeMessages=" + largeMessages + ", asyncLimit=" + asyncLimit
                + ", asyncOverflow=" + asyncOverflow + ", handlers=" + handlers + ", loops=" + loops + "]";
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
        private Duration keepAlive = Duration.ZERO;
        private @Nullable AckTimeout ackTimeout;
        private int typeOfService;
        private byte[] route = new byte[0];
        private @Nullable InetSocketAddress localAddress;
        private WaitPolicy waiting = WaitPolicy.defaults();
        private int inlineSize;
        private int scatterGather = 1;
        private boolean agreedSizes;
        private int largeMessageSize;
        private int largeMessages;
        private int asyncLimit = 1 << 14;
        private AsyncOverflow asyncOverflow = AsyncOverflow.REFUSE;
        private @Nullable Function<? super Connection, ? extends ConnectionHandler> handlers;
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
         * Sets how often an idle connection checks that the peer can be reached, so that a peer that has vanished ends
         * it. The check is a write of no bytes, which the peer's program does not notice; how long it takes to fail is
         * up to {@link #ackTimeout} and {@link ConnectionParameters#retryCount()}.
         *
         * @param interval at least 1 ms; zero, which is the default, for never
         * @return this builder
         */
        public Builder keepAlive(Duration interval) {
            keepAlive = interval;
            return this;
        }

        /**
         * Sets how long the device waits for an acknowledgement before it retransmits.
         *
         * @param timeout null, which is the default, for what the route says
         * @return this builder
         */
        public Builder ackTimeout(@Nullable AckTimeout timeout) {
            ackTimeout = timeout;
            return this;
        }

        /**
         * Sets the IP type of service, or traffic class, of a connection that this side begins
         * ({@code RDMA_OPTION_ID_TOS}). The peer answers with the same. On RoCE, the network interface turns it into
         * the priority, which is the service level; on InfiniBand, the subnet manager may choose the service level by
         * it.
         *
         * @param value from 0 to 255; the default is 0
         * @return this builder
         */
        public Builder typeOfService(int value) {
            typeOfService = value;
            return this;
        }

        /**
         * Sets the path records to connect with ({@code RDMA_OPTION_IB_PATH}), on InfiniBand only: with
         * {@link io.rdmacm.core.PathRecords} that has the service level and the path MTU. Elsewhere the network decides
         * both, and the kernel refuses path records.
         *
         * @param paths one or more {@code struct ibv_path_data}; empty, which is the default, for none
         * @return this builder
         */
        public Builder route(byte[] paths) {
            route = paths.clone();
            return this;
        }

        /**
         * Sets where a connection that this side begins comes from: an address of this machine, which decides the
         * device, and a port.
         *
         * @param address with port 0 for any free port; null, which is the default, for the address that leads to the
         *        peer
         * @return this builder
         */
        public Builder localAddress(@Nullable InetSocketAddress address) {
            localAddress = address;
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
            handlers = value == null ? null : connection -> value;
            return this;
        }

        /**
         * Sets who is told about messages and the end of the connection, like {@link #handler}, with a handler for each
         * connection.
         *
         * @param factory creates the handler when a connection is established, in the thread that will call it, and
         *        must not wait; if it throws or returns null, the connection is closed
         * @return this builder
         */
        public Builder handlers(Function<? super Connection, ? extends ConnectionHandler> factory) {
            handlers = Objects.requireNonNull(factory, "factory");
            return this;
        }

        /**
         * Sets how many parts of memory one operation can have, see {@link io.rdmacm.core.ScatterGatherList}.
         *
         * @param parts at least 1, which is the default; not more than the device supports
         * @return this builder
         */
        public Builder scatterGather(int parts) {
            scatterGather = parts;
            return this;
        }

        /**
         * Sets whether the peers tell each other, when they connect, how large a message they receive. A longer message
         * is then refused before it is sent, where otherwise it ends the connection. Only for two programs of this
         * library that both set it: it takes 8 bytes of the private data in front of those of the program.
         *
         * @param on false by default
         * @return this builder
         * @see Connection#peerMessageSize()
         */
        public Builder agreedSizes(boolean on) {
            agreedSizes = on;
            return this;
        }

        /**
         * Sets which messages this side receives that are longer than {@link #messageSize}, if the peer sets this too.
         * The sender announces such a message, this side reads it ({@code IBV_WR_RDMA_READ}) into memory that it
         * registers for this, and answers; {@link Connection#send(MemoryRegion, long, long, Duration)} and its kin wait
         * for the answer. Shorter messages stay one send each. Implies {@link #agreedSizes}, with 16 bytes of private
         * data in place of 8; takes the immediate value 0x726d4a4c of messages; needs a message size of at least
         * {@value io.rdmacm.verbs.work.RemoteMemory#BYTES} bytes on both sides, and reads of the connection parameters.
         * Over iWARP, which has no immediate values, the peers agree on no large messages.
         *
         * @param bytes the size of the largest one, at least 1; the peer may agree on another one
         * @param count how many of them the peer can announce before they have been read, and how many can be held
         *        before they are closed, at least 1; both 0, which is the default, for none
         * @return this builder
         * @see Connection#peerLargeMessageSize()
         */
        public Builder largeMessages(int bytes, int count) {
            largeMessageSize = bytes;
            largeMessages = count;
            return this;
        }

        /**
         * Bounds {@link Connection#async()}.
         *
         * @param limit how many operations can wait for room inside the connection, at least 1; 16384 by default
         * @param overflow what becomes of further ones; {@link AsyncOverflow#REFUSE} by default
         * @return this builder
         */
        public Builder async(int limit, AsyncOverflow overflow) {
            asyncLimit = limit;
            asyncOverflow = overflow;
            return this;
        }

        /**
         * Sets the largest message that is passed to the device in its work request ({@code IBV_SEND_INLINE}), which
         * saves the device a read of the buffer.
         *
         * @param bytes 0, which is the default, for none; not more than the device supports
         * @return this builder
         */
        public Builder inlineSize(int bytes) {
            inlineSize = bytes;
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
         * @throws IllegalArgumentException when a number is less than 1, when buffers and operations together are more
         *         than a completion queue could ever hold, or when another value is out of its range
         */
        public ConnectionSettings build() {
            requirePositive("messageSize", messageSize);
            requirePositive("receiveBuffers", receiveBuffers);
            requirePositive("sendBuffers", sendBuffers);
            requirePositive("operations", operations);
            requirePositive("scatterGather", scatterGather);
            requirePositive("asyncLimit", asyncLimit);
            long requests = (long) receiveBuffers + sendBuffers + operations;
            if (requests > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("receiveBuffers, sendBuffers and operations must be at most "
                        + Integer.MAX_VALUE + " together, not " + requests);
            }
            if (largeMessageSize != 0 || largeMessages != 0) {
                requirePositive("largeMessageSize", largeMessageSize);
                requirePositive("largeMessages", largeMessages);
                if (messageSize < RemoteMemory.BYTES) {
                    throw new IllegalArgumentException("large messages need a messageSize of at least "
                            + RemoteMemory.BYTES + ", not " + messageSize);
                }
            }
            if (inlineSize < 0) {
                throw new IllegalArgumentException("inlineSize must not be negative: " + inlineSize);
            }
            if (handshakeTimeout.isNegative() || linger.isNegative()) {
                throw new IllegalArgumentException("negative duration: handshakeTimeout " + handshakeTimeout
                        + ", linger " + linger);
            }
            if (keepAlive.isNegative() || !keepAlive.isZero() && keepAlive.compareTo(LEAST_KEEP_ALIVE) < 0) {
                throw new IllegalArgumentException("keepAlive must be zero or at least 1 ms, not " + keepAlive);
            }
            if (ackTimeout != null) {
                // The record can hold codes that C does not know.
                AckTimeout.ofCode(ackTimeout.code());
            }
            if (typeOfService < 0 || typeOfService > MOST_TYPE_OF_SERVICE) {
                throw new IllegalArgumentException("typeOfService must be from 0 to " + MOST_TYPE_OF_SERVICE + ", not "
                        + typeOfService);
            }
            return new ConnectionSettings(this);
        }
    }
}
