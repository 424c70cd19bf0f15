// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.RdmaByteBufAllocator;
import io.rdmacm.netty.RdmaIoHandler;

/**
 * What carries a stream of bytes that is measured. Before they sleep, those over RDMA poll for as long as
 * {@code rstream} does; those over TCP sleep at once.
 */
public enum StreamWay {
    /** {@code RdmaStream}. */
    ENGINE,
    /** A blocking {@code SocketChannel} over RDMA. */
    NIO,
    /** A blocking {@code SocketChannel} of the JDK, over TCP. */
    NIO_TCP,
    /** {@code RdmaStreamChannel} with Netty's {@code EpollIoHandler}. */
    NETTY_EPOLL,
    /** The same, with buffers that are written without a copy. */
    NETTY_REGISTERED,
    /** {@code RdmaStreamChannel} with {@code RdmaIoHandler}. */
    NETTY_RDMA,
    /** Netty's {@code EpollSocketChannel}, over TCP. */
    NETTY_TCP;

    /** Returns the settings of the streams: the polling of {@code rstream}. */
    private static StreamSettings settings(int bufferSize) {
        return StreamSettings.builder().sendBufferSize(bufferSize).receiveBufferSize(bufferSize)
                .waiting(WaitPolicy.spinFor(Rstream.polling())).build();
    }

    /** {@return the name in results} */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** {@return whether it copies as all others do; if not, only large messages differ} */
    public boolean copies() {
        return this != NETTY_REGISTERED;
    }

    /** {@return for how many microseconds a thread polls before it sleeps} */
    public long spinMicros() {
        return TimeUnit.MICROSECONDS.convert(switch (this) {
            case ENGINE, NIO, NETTY_EPOLL, NETTY_REGISTERED, NETTY_RDMA -> Rstream.polling();
            case NIO_TCP, NETTY_TCP -> Duration.ZERO;
        });
    }

    /** {@return why it cannot be measured on this machine; empty if it can} */
    public Optional<String> problem() {
        return switch (this) {
            case NETTY_EPOLL, NETTY_REGISTERED, NETTY_TCP -> Epoll.isAvailable() ? Optional.empty()
                    : Optional.of("Netty's epoll cannot be used: " + Epoll.unavailabilityCause().getMessage());
            default -> Optional.empty();
        };
    }

    /**
     * {@return an end of a stream}
     *
     * @param trial what is measured
     * @param client whether it connects
     * @param size the size of the largest message
     */
    StreamEnd open(StreamTrial trial, boolean client, int size) throws IOException {
        StreamSettings settings = settings(trial.bufferSize());
        return switch (this) {
            case ENGINE -> new BlockingStreamEnd(new StreamMessageEnd(settings, client, size), client);
            case NIO -> channel(new RdmaSelectorProvider(settings), client, size);
            case NIO_TCP -> channel(SelectorProvider.provider(), client, size);
            default -> new NettyEnd(netty(settings), client, size, Math.max(trial.channels(), 1));
        };
    }

    /** {@return what Netty uses for this way} */
    NettyTransport netty(StreamSettings settings) {
        return switch (this) {
            case NETTY_EPOLL -> NettyTransport.rdma(EpollIoHandler.newFactory(), ByteBufAllocator.DEFAULT, settings);
            case NETTY_REGISTERED -> NettyTransport.rdma(EpollIoHandler.newFactory(), new RdmaByteBufAllocator(),
                    settings);
            case NETTY_RDMA -> NettyTransport.rdma(RdmaIoHandler.newFactory(settings.waiting()),
                    ByteBufAllocator.DEFAULT, settings);
            case NETTY_TCP -> NettyTransport.tcp();
            case ENGINE, NIO, NIO_TCP -> throw new IllegalArgumentException(id() + " is not Netty's");
        };
    }

    private static StreamEnd channel(SelectorProvider provider, boolean client, int size) throws IOException {
        return new BlockingStreamEnd(new ChannelEnd(provider, client, size), client);
    }
}
