// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.time.Duration;

import io.netty.channel.ChannelOption;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.address.AckTimeout;

/**
 * The options of {@link RdmaStreamChannel} and {@link RdmaServerStreamChannel} that TCP does not have. Those that are
 * settings of streams, see {@link StreamSettings}, can be set until the channel is bound or connected. For the channels
 * that a server accepts, set them for the server, with {@code ServerBootstrap.option}, not with {@code childOption}:
 * the streams exist already when these are applied.
 *
 * <p>Of Netty's own options, the channels have those of all channels, {@code SO_SNDBUF} and {@code SO_RCVBUF}
 * ({@link StreamSettings#sendBufferSize()} and {@link StreamSettings#receiveBufferSize()}), {@code IP_TOS}
 * ({@link StreamSettings#typeOfService()}, that of the side that connects), {@code SO_REUSEADDR},
 * {@code SO_KEEPALIVE}, {@code SO_LINGER}, {@code ALLOW_HALF_CLOSURE}, {@code SO_BACKLOG}, and {@code TCP_NODELAY},
 * which has no effect, as every write is sent at once.
 */
public final class RdmaChannelOption {
    /** {@link StreamSettings#sendQueueSize()}. */
    public static final ChannelOption<Integer> SEND_QUEUE_SIZE = option("SEND_QUEUE_SIZE");
    /** {@link StreamSettings#receiveQueueSize()}. */
    public static final ChannelOption<Integer> RECEIVE_QUEUE_SIZE = option("RECEIVE_QUEUE_SIZE");
    /** {@link StreamSettings#inlineSize()}. */
    public static final ChannelOption<Integer> INLINE_SIZE = option("INLINE_SIZE");
    /** {@link StreamSettings#mapSlots()}. */
    public static final ChannelOption<Integer> MAP_SLOTS = option("MAP_SLOTS");
    /** {@link StreamSettings#route()}. */
    public static final ChannelOption<byte[]> ROUTE = option("ROUTE");
    /** How often an idle stream checks that the peer can be reached if {@code SO_KEEPALIVE} is on; 2 hours, as TCP. */
    public static final ChannelOption<Duration> KEEP_ALIVE_INTERVAL = option("KEEP_ALIVE_INTERVAL");
    /** {@link StreamSettings#retries()}. */
    public static final ChannelOption<Integer> RETRIES = option("RETRIES");
    /** {@link StreamSettings#ackTimeout()}; null, which cannot be set, for what the route says. */
    public static final ChannelOption<AckTimeout> ACK_TIMEOUT = option("ACK_TIMEOUT");
    /** {@link StreamSettings#handshakeTimeout()}. */
    public static final ChannelOption<Duration> HANDSHAKE_TIMEOUT = option("HANDSHAKE_TIMEOUT");
    /** All settings of streams at once. Options that are set later change some of them. */
    public static final ChannelOption<StreamSettings> STREAM_SETTINGS = option("STREAM_SETTINGS");
    /**
     * How long a channel of an event loop with EpollIoHandler polls when it has nothing more to do, before the event
     * loop sleeps or goes on with other channels and timers, which wait that long; a task for the event loop ends the
     * polling. With one CPU, it polls only once, after all other threads could run. Zero is the default. May be set at
     * any time, with effect from the next read or write on. An {@link RdmaIoHandler} has a setting of its own.
     */
    public static final ChannelOption<Duration> SPIN = option("SPIN");
    /**
     * The smallest write in bytes that is sent from the buffer of an {@link RdmaByteBufAllocator} without copying it;
     * 4096 is the default. May be set at any time.
     */
    public static final ChannelOption<Integer> ZERO_COPY_THRESHOLD = option("ZERO_COPY_THRESHOLD");

    private RdmaChannelOption() {
    }

    private static <T> ChannelOption<T> option(String name) {
        return ChannelOption.valueOf(RdmaChannelOption.class, name);
    }
}
