// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
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
 * @param server the class of channels that listen
 * @param client the class of channels that connect
 * @param allocator allocates the buffers
 * @param settings those of streams over RDMA; null for TCP
 */
record NettyTransport(IoHandlerFactory handler, Class<? extends ServerChannel> server,
        Class<? extends Channel> client, ByteBufAllocator allocator, StreamSettings settings) {
    private static final long LIMIT_SECONDS = 120;

    /** {@return Netty's own epoll, over TCP} */
    static NettyTransport tcp() {
        return new NettyTransport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class,
                EpollSocketChannel.class, ByteBufAllocator.DEFAULT, null);
    }

    /** {@return channels over RDMA} */
    static NettyTransport rdma(IoHandlerFactory handler, ByteBufAllocator allocator, StreamSettings settings) {
        return new NettyTransport(handler, RdmaServerStreamChannel.class, RdmaStreamChannel.class, allocator, settings);
    }

    /** {@return a bootstrap of servers, without their handlers} */
    ServerBootstrap server(EventLoopGroup group) {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(server)
                .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.ALLOCATOR, allocator);
        return settings != null ? bootstrap.option(RdmaChannelOption.STREAM_SETTINGS, settings)
                .childOption(RdmaChannelOption.SPIN, Rstream.polling()) : bootstrap;
    }

    /** {@return a bootstrap of clients, without their handlers} */
    Bootstrap client(EventLoopGroup group) {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(client)
                .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.ALLOCATOR, allocator);
        return settings != null ? bootstrap.option(RdmaChannelOption.STREAM_SETTINGS, settings)
                .option(RdmaChannelOption.SPIN, Rstream.polling()) : bootstrap;
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
