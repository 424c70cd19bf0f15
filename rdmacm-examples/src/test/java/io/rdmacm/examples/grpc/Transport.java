// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.net.SocketAddress;
import java.util.function.Supplier;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/** What gRPC runs over: the event loop, and the classes of the channels. */
enum Transport {
    /** RDMA, with the event loop that polls before it sleeps. */
    RDMA(RdmaServerStreamChannel.class, RdmaStreamChannel.class, RdmaIoHandler::newFactory),
    /** RDMA, with Netty's event loop of epoll. */
    EPOLL(RdmaServerStreamChannel.class, RdmaStreamChannel.class, EpollIoHandler::newFactory),
    /** TCP, for comparison. */
    TCP(NioServerSocketChannel.class, NioSocketChannel.class, NioIoHandler::newFactory);

    private final Class<? extends ServerChannel> serverChannel;
    private final Class<? extends Channel> clientChannel;
    private final Supplier<IoHandlerFactory> handlers;

    Transport(Class<? extends ServerChannel> serverChannel, Class<? extends Channel> clientChannel,
            Supplier<IoHandlerFactory> handlers) {
        this.serverChannel = serverChannel;
        this.clientChannel = clientChannel;
        this.handlers = handlers;
    }

    /** Returns new event loops, which the caller shuts down. */
    EventLoopGroup loops() {
        return new MultiThreadIoEventLoopGroup(handlers.get());
    }

    /** Returns the builder of a server with these event loops. */
    NettyServerBuilder server(SocketAddress address, EventLoopGroup loops) {
        return NettyServerBuilder.forAddress(address).channelType(serverChannel)
                .bossEventLoopGroup(loops).workerEventLoopGroup(loops);
    }

    /** Returns the builder of a client with these event loops. */
    NettyChannelBuilder client(SocketAddress address, EventLoopGroup loops) {
        return NettyChannelBuilder.forAddress(address).channelType(clientChannel).eventLoopGroup(loops)
                .usePlaintext();
    }
}
