// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.concurrent.Future;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.RdmaChannelOption;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/**
 * What a program chooses when it uses Netty.
 *
 * @param handler makes what drives the channels of an event loop
 * @param allocator allocates the buffers
 * @param settings those of streams over RDMA; null for Netty's own epoll, over TCP
 */
record NettyTransport(IoHandlerFactory handler, ByteBufAllocator allocator, StreamSettings settings) {
    private static final long LIMIT_SECONDS = 120;

    /** {@return a bootstrap of servers, without their handlers} */
    ServerBootstrap server(EventLoopGroup group) {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group)
                .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.ALLOCATOR, allocator);
        return settings == null ? bootstrap.channel(EpollServerSocketChannel.class)
                : bootstrap.channel(RdmaServerStreamChannel.class)
                        .option(RdmaChannelOption.STREAM_SETTINGS, settings)
                        .childOption(RdmaChannelOption.SPIN, Rstream.polling());
    }

    /** {@return a bootstrap of clients, without their handlers} */
    Bootstrap client(EventLoopGroup group) {
        Bootstrap bootstrap = new Bootstrap().group(group)
                .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.ALLOCATOR, allocator);
        return settings == null ? bootstrap.channel(EpollSocketChannel.class)
                : bootstrap.channel(RdmaStreamChannel.class).option(RdmaChannelOption.STREAM_SETTINGS, settings)
                        .option(RdmaChannelOption.SPIN, Rstream.polling());
    }

    static void await(Future<?> future) throws IOException {
        if (!future.awaitUninterruptibly(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("Netty did not do it within " + LIMIT_SECONDS + " s");
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause().toString(), future.cause());
        }
    }

    static void shutDown(EventLoopGroup group) {
        group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
