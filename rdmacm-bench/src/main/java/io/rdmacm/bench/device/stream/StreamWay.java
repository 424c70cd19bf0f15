// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.RdmaByteBufAllocator;
import io.rdmacm.netty.RdmaIoHandler;

/**
 * What carries a stream of bytes that is measured. All sides sleep when there is nothing to do, as {@code rstream -T b}
 * does; before that, those over RDMA poll for as long as it does, while those over TCP sleep at once.
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

    /** {@return whether it copies as all others do; if not, only large messages differ} */
    public boolean copies() {
        return this != NETTY_REGISTERED;
    }

    /** {@return opens ends of a stream, for round trips or for a throughput} */
    public End.Opener opener(boolean roundTrips) {
        return (load, client) -> open(load, client, roundTrips);
    }

    private End open(End.Load load, boolean client, boolean roundTrips) throws IOException {
        StreamSettings settings = StreamSettings.builder().sendBufferSize(Rstream.BUFFER)
                .receiveBufferSize(Rstream.BUFFER).waiting(WaitPolicy.spinFor(Rstream.polling())).build();
        return switch (this) {
            case ENGINE -> new BlockingStream.Engine(settings, load, client, roundTrips);
            case NIO, NIO_TCP -> new BlockingStream.Nio(nio(settings), load, client, roundTrips);
            default -> new NettyStream(netty(settings), load, client, roundTrips);
        };
    }

    /** {@return where the channels of NIO come from; null if this way has none} */
    SelectorProvider nio(StreamSettings settings) {
        return switch (this) {
            case NIO -> new RdmaSelectorProvider(settings);
            case NIO_TCP -> SelectorProvider.provider();
            default -> null;
        };
    }

    /** {@return what Netty uses for this way} */
    NettyTransport netty(StreamSettings settings) throws IOException {
        if (this != NETTY_RDMA && !Epoll.isAvailable()) {
            throw new IOException("Netty's epoll cannot be used: " + Epoll.unavailabilityCause().getMessage());
        }
        return new NettyTransport(
                this == NETTY_RDMA ? RdmaIoHandler.newFactory(settings.waiting()) : EpollIoHandler.newFactory(),
                this == NETTY_REGISTERED ? new RdmaByteBufAllocator() : ByteBufAllocator.DEFAULT,
                this == NETTY_TCP ? null : settings);
    }
}
