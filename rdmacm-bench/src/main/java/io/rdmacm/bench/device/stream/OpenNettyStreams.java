// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.concurrent.Callable;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.rdmacm.bench.device.machine.Port;

/** Streams of one group of event loops, which drives both ends. */
final class OpenNettyStreams extends OpenEnds<Channel> {
    private final EventLoopGroup group;
    private final Bootstrap bootstrap;
    private final Channel listener;

    /** Sends back what it receives. */
    @ChannelHandler.Sharable
    private final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message, context.voidPromise());
        }
    }

    /** Takes what is sent back. */
    @ChannelHandler.Sharable
    private final class Answers extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            answered.release(bytes.readableBytes());
            bytes.release();
        }
    }

    /** Creates the group, with so many event loops, and the end that listens. */
    OpenNettyStreams(NettyTransport transport, int threads) throws IOException {
        group = new MultiThreadIoEventLoopGroup(threads, transport.handler());
        bootstrap = transport.client(group).handler(new Answers());
        ChannelFuture bound = transport.server(group).childHandler(new Echo()).bind(Port.anyPort());
        NettyTransport.await(bound);
        listener = bound.channel();
    }

    @Override
    Callable<Channel> connect() {
        ChannelFuture connecting = bootstrap.connect(listener.localAddress());
        return () -> {
            NettyTransport.await(connecting);
            Channel channel = connecting.channel();
            channel.writeAndFlush(channel.alloc().directBuffer(MESSAGE).writeZero(MESSAGE));
            return channel;
        };
    }

    @Override
    void close(Channel channel) {
        channel.close();
    }

    @Override
    public void close() {
        NettyTransport.shutDown(group);
    }
}
