// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.verbs.address.AckTimeout;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one side of an {@link RdmaStream}, and of the streams that an {@link RdmaStreamServer} accepts.
 * Immutable. The defaults are those of rsocket(7). Each stream takes {@code sendBufferSize + receiveBufferSize}
 * bytes and a few more of registered memory, which streams over a device share.
 *
 * <p>There is no counterpart of {@code TCP_NODELAY}: every write is sent at once.
 */
public final class StreamSettings {
    /** The fewest entries of a send or receive queue. */
    public static final int MIN_QUEUE_SIZE = 16;
    /** The most entries of a send or receive queue. */
    public static final int MAX_QUEUE_SIZE = 0xFFFE;
    /** The smallest size of a buffer in bytes. */
    public static final int MIN_BUFFER_SIZE = 4096;
    /** The largest size of a buffer in bytes. */
    public static final int MAX_BUFFER_SIZE = 1 << 29;

    private static final int MOST_INLINE = 0xFFFE;
    private static final int MOST_RETRIES = 7;
    private static final int MOST_TYPE_OF_SERVICE = 255;
    private static final Duration LEAST_TIME = Duration.ofMillis(1);

    private final int sendQueueSize;
    private final int receiveQueueSize;
    private final int inlineSize;
    private final int sendBufferSize;
    private final int receiveBufferSize;
    private final int mapSlots;
    private final byte[] route;
    private final Duration keepAlive;
    private final int retries;
    private final @Nullable AckTimeout ackTimeout;
    private final Duration linger;
    private final Duration handshakeTimeout;
    private final boolean reuseAddress;
    private final int typeOfService;
    private final WaitPolicy waiting;

    private StreamSettings(Builder builder) {
        sendQueueSize = builder.sendQueueSize;
        receiveQueueSize = builder.receiveQueueSize;
        inlineSize = builder.inlineSize;
        sendBufferSize = builder.sendBufferSize;
        receiveBufferSize = builder.receiveBufferSize;
        mapSlots = builder.mapSlots;
        route = builder.route;
        keepAlive = builder.keepAlive;
        retries = builder.retries;
        ackTimeout = builder.ackTimeout;
        linger = builder.linger;
        handshakeTimeout = builder.handshakeTimeout;
        reuseAddress = builder.reuseAddress;
        typeOfService = builder.typeOfService;
        waiting = Objects.requireNonNull(builder.waiting, "waiting");
    }

    /**
     * Returns the default settings.
     *
     * @return settings with queues of 384 entries, 64 bytes of inline data, buffers of 128 KiB, no mappings, no
     *         keep-alive, 7 retries, a linger time of 5 seconds and a handshake timeout of 10 seconds
     */
    public static StreamSettings defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts with the values of these settings} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.sendQueueSize = sendQueueSize;
        builder.receiveQueueSize = receiveQueueSize;
        builder.inlineSize = inlineSize;
        builder.sendBufferSize = sendBufferSize;
        builder.receiveBufferSize = receiveBufferSize;
        builder.mapSlots = mapSlots;
        builder.route = route;
        builder.keepAlive = keepAlive;
        builder.retries = retries;
        builder.ackTimeout = ackTimeout;
        builder.linger = linger;
        builder.handshakeTimeout = handshakeTimeout;
        builder.reuseAddress = reuseAddress;
        builder.typeOfService = typeOfService;
        builder.waiting = waiting;
        return builder;
    }

    /**
     * {@return how many writes can be in flight ({@code RDMA_SQSIZE}), at least 16; lowered to what the device
     * supports}
     */
    public int sendQueueSize() {
        return sendQueueSize;
    }

    /**
     * {@return how many writes of the peer can be in flight ({@code RDMA_RQSIZE}), at least 16; lowered to what the
     * device supports}
     */
    public int receiveQueueSize() {
        return receiveQueueSize;
    }

    /**
     * {@return the largest write in bytes that is passed to the device in its work request ({@code RDMA_INLINE}); 0 if
     * the device supports none}
     */
    public int inlineSize() {
        return inlineSize;
    }

    /** {@return how many bytes can be in flight, at least 4096} */
    public int sendBufferSize() {
        return sendBufferSize;
    }

    /**
     * {@return how many bytes can arrive before they are read, at least 4096; half of it is the largest write of the
     * peer}
     */
    public int receiveBufferSize() {
        return receiveBufferSize;
    }

    /**
     * {@return how many mappings of the peer this side can hold ({@code RDMA_IOMAPSIZE}): 0 to 128, or up to 32512 in
     * multiples of 256; see {@link RdmaStream#map}}
     */
    public int mapSlots() {
        return mapSlots;
    }

    /**
     * {@return path records to connect with ({@code RDMA_ROUTE}), instead of asking the subnet manager: one or more
     * {@code struct ibv_path_data}; empty for none}
     */
    public byte[] route() {
        return route.clone();
    }

    /**
     * {@return how often an idle stream checks that the peer can be reached ({@code SO_KEEPALIVE},
     * {@code TCP_KEEPIDLE}); zero for never}
     */
    public Duration keepAlive() {
        return keepAlive;
    }

    /**
     * {@return how often the device retransmits what the peer does not acknowledge, 0 to 7, before the stream fails
     * ({@code retry_count} of rdma_connect(3)); SoftRoCE takes 7 for no limit}
     */
    public int retries() {
        return retries;
    }

    /**
     * {@return how long the device waits for an acknowledgement ({@code RDMA_OPTION_ID_ACK_TIMEOUT}); empty for what
     * the route says}
     */
    public Optional<AckTimeout> ackTimeout() {
        return Optional.ofNullable(ackTimeout);
    }

    /** {@return how long a close waits until the peer's device has received everything that was written} */
    public Duration linger() {
        return linger;
    }

    /** {@return how long the handshake of a stream that is accepted, or each step of a connect, may take} */
    public Duration handshakeTimeout() {
        return handshakeTimeout;
    }

    /** {@return whether a local address in use may be bound ({@code SO_REUSEADDR})} */
    public boolean reuseAddress() {
        return reuseAddress;
    }

    /**
     * {@return the IP type of service, or traffic class, of a stream that connects ({@code RDMA_OPTION_ID_TOS}), 0 to
     * 255; the peer answers with the same}
     */
    public int typeOfService() {
        return typeOfService;
    }

    /** {@return how threads wait for the stream} */
    public WaitPolicy waiting() {
        return waiting;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StreamSettings that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "StreamSettings[sendQueueSize=" + sendQueueSize + ", receiveQueueSize=" + receiveQueueSize
                + ", inlineSize=" + inlineSize + ", sendBufferSize=" + sendBufferSize + ", receiveBufferSize="
                + receiveBufferSize + ", mapSlots=" + mapSlots + ", route=" + route.length + " bytes, keepAlive="
                + keepAlive + ", retries=" + retries + ", ackTimeout=" + ackTimeout + ", linger=" + linger
                + ", handshakeTimeout=" + handshakeTimeout + ", reuseAddress=" + reuseAddress + ", typeOfService="
                + typeOfService + ", waiting=" + waiting + "]";
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(sendQueueSize, receiveQueueSize, inlineSize, sendBufferSize, receiveBufferSize, mapSlots,
                ByteBuffer.wrap(route), keepAlive, retries, ackTimeout, linger, handshakeTimeout, reuseAddress,
                typeOfService, waiting);
    }

    private static void requireRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " must be from " + least + " to " + most + ", not " + value);
        }
    }

    /** Builds {@link StreamSettings}. */
    public static final class Builder {
        private int sendQueueSize = 384;
        private int receiveQueueSize = 384;
        private int inlineSize = 64;
        private int sendBufferSize = 1 << 17;
        private int receiveBufferSize = 1 << 17;
        private int mapSlots;
        private byte[] route = new byte[0];
        private Duration keepAlive = Duration.ZERO;
        private int retries = MOST_RETRIES;
        private @Nullable AckTimeout ackTimeout;
        private Duration linger = Duration.ofSeconds(5);
        private Duration handshakeTimeout = Duration.ofSeconds(10);
        private boolean reuseAddress;
        private int typeOfService;
        private WaitPolicy waiting = WaitPolicy.defaults();

        private Builder() {
        }

        /**
         * Sets how many writes can be in flight.
         *
         * @param count from 16 to 65534; the default is 384
         * @return this builder
         */
        public Builder sendQueueSize(int count) {
            sendQueueSize = count;
            return this;
        }

        /**
         * Sets how many writes of the peer can be in flight.
         *
         * @param count from 16 to 65534; the default is 384
         * @return this builder
         */
        public Builder receiveQueueSize(int count) {
            receiveQueueSize = count;
            return this;
        }

        /**
         * Sets the largest write that is passed to the device in its work request.
         *
         * @param bytes from 0 to 65534; the default is 64
         * @return this builder
         */
        public Builder inlineSize(int bytes) {
            inlineSize = bytes;
            return this;
        }

        /**
         * Sets how many bytes can be in flight.
         *
         * @param bytes from 4096 to 2^29; the default is 128 KiB
         * @return this builder
         */
        public Builder sendBufferSize(int bytes) {
            sendBufferSize = bytes;
            return this;
        }

        /**
         * Sets how many bytes can arrive before they are read.
         *
         * @param bytes from 4096 to 2^29; the default is 128 KiB
         * @return this builder
         */
        public Builder receiveBufferSize(int bytes) {
            receiveBufferSize = bytes;
            return this;
        }

        /**
         * Sets how many mappings of the peer this side can hold.
         *
         * @param count from 0 to 128, or a multiple of 256 up to 32512; the default is 0
         * @return this builder
         */
        public Builder mapSlots(int count) {
            mapSlots = count;
            return this;
        }

        /**
         * Sets the path records to connect with.
         *
         * @param paths one or more {@code struct ibv_path_data}; empty, which is the default, for none
         * @return this builder
         */
        public Builder route(byte[] paths) {
            route = paths.clone();
            return this;
        }

        /**
         * Sets how often an idle stream checks that the peer can be reached.
         *
         * @param interval at least 1 ms; zero, which is the default, for never
         * @return this builder
         */
        public Builder keepAlive(Duration interval) {
            keepAlive = interval;
            return this;
        }

        /**
         * Sets how often the device retransmits what the peer does not acknowledge.
         *
         * @param count from 0 to 7; the default is 7
         * @return this builder
         */
        public Builder retries(int count) {
            retries = count;
            return this;
        }

        /**
         * Sets how long the device waits for an acknowledgement.
         *
         * @param timeout null, which is the default, for what the route says
         * @return this builder
         */
        public Builder ackTimeout(@Nullable AckTimeout timeout) {
            ackTimeout = timeout;
            return this;
        }

        /**
         * Sets how long a close waits until the peer's device has received everything that was written.
         *
         * @param timeout not negative; the default is 5 seconds
         * @return this builder
         */
        public Builder linger(Duration timeout) {
            linger = timeout;
            return this;
        }

        /**
         * Sets how long the handshake of a stream that is accepted, or each step of a connect, may take.
         *
         * @param timeout at least 1 ms; the default is 10 seconds
         * @return this builder
         */
        public Builder handshakeTimeout(Duration timeout) {
            handshakeTimeout = timeout;
            return this;
        }

        /**
         * Sets whether a local address in use may be bound.
         *
         * @param on the default is false
         * @return this builder
         */
        public Builder reuseAddress(boolean on) {
            reuseAddress = on;
            return this;
        }

        /**
         * Sets the IP type of service, or traffic class, of a stream that connects.
         *
         * @param value from 0 to 255; the default is 0
         * @return this builder
         */
        public Builder typeOfService(int value) {
            typeOfService = value;
            return this;
        }

        /**
         * Sets how threads wait for the stream.
         *
         * @param policy the default is {@link WaitPolicy#defaults()}
         * @return this builder
         */
        public Builder waiting(WaitPolicy policy) {
            waiting = policy;
            return this;
        }

        /**
         * Returns the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when one of them is out of its range
         */
        public StreamSettings build() {
            requireRange("sendQueueSize", sendQueueSize, MIN_QUEUE_SIZE, MAX_QUEUE_SIZE);
            requireRange("receiveQueueSize", receiveQueueSize, MIN_QUEUE_SIZE, MAX_QUEUE_SIZE);
            requireRange("inlineSize", inlineSize, 0, MOST_INLINE);
            requireRange("sendBufferSize", sendBufferSize, MIN_BUFFER_SIZE, MAX_BUFFER_SIZE);
            requireRange("receiveBufferSize", receiveBufferSize, MIN_BUFFER_SIZE, MAX_BUFFER_SIZE);
            if (!MapSlots.isEncodable(mapSlots)) {
                throw new IllegalArgumentException("mapSlots must be from 0 to 128, or a multiple of 256 up to "
                        + MapSlots.MAXIMUM + ", not " + mapSlots);
            }
            requireRange("retries", retries, 0, MOST_RETRIES);
            requireRange("typeOfService", typeOfService, 0, MOST_TYPE_OF_SERVICE);
            if (ackTimeout != null) {
                // The record can hold codes that C does not know.
                AckTimeout.ofCode(ackTimeout.code());
            }
            if (keepAlive.isNegative() || linger.isNegative()) {
                throw new IllegalArgumentException("negative duration: keepAlive " + keepAlive + ", linger " + linger);
            }
            if (!keepAlive.isZero() && keepAlive.compareTo(LEAST_TIME) < 0) {
                throw new IllegalArgumentException("keepAlive must be zero or at least 1 ms, not " + keepAlive);
            }
            if (handshakeTimeout.compareTo(LEAST_TIME) < 0) {
                throw new IllegalArgumentException("handshakeTimeout must be at least 1 ms, not " + handshakeTimeout);
            }
            return new StreamSettings(this);
        }
    }
}
