// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

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
final class OpenNettyStreams implements OpenStreams {
    private static final int LIMIT_SECONDS = 120;

    private final EventLoopGroup group;
    private final Bootstrap bootstrap;
    private final Channel listener;
    private final List<Channel> clients = new ArrayList<>();
    private final Semaphore answered = new Semaphore(0);

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
    public void open(int count) throws IOException, InterruptedException {
        for (int left = count; left > 0; left -= AT_ONCE) {
            List<ChannelFuture> connects = new ArrayList<>();
            for (int i = Math.min(left, AT_ONCE); i > 0; i--) {
                connects.add(bootstrap.connect(listener.localAddress()));
            }
            for (ChannelFuture connect : connects) {
                NettyTransport.await(connect);
                Channel channel = connect.channel();
                clients.add(channel);
                channel.writeAndFlush(channel.alloc().directBuffer(MESSAGE).writeZero(MESSAGE));
            }
            if (!answered.tryAcquire(connects.size() * MESSAGE, LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("not all of " + connects.size() + " were answered");
            }
        }
    }

    @Override
    public void closeAllBut(int first) throws IOException {
        List<Channel> closing = clients.subList(first, clients.size());
        closing.forEach(Channel::close);
        for (Channel channel : closing) {
            NettyTransport.await(channel.closeFuture());
        }
        closing.clear();
    }

    @Override
    public void close() {
        NettyTransport.shutDown(group);
    }
}
