// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.forked;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/** Channels are opened and closed, with SO_LINGER too, while a virtual thread keeps the only carrier. */
public final class BesideBusyCarrier {
    private static final int LINGER_SECONDS = 100;

    private static volatile boolean busy = true;

    private BesideBusyCarrier() {
    }

    /** The argument: an address of this machine. Says what has been done, a line each. */
    public static void main(String[] args) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            running.countDown();
            while (busy) {
                Thread.onSpinWait();
            }
        });
        running.await();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        // it only closes when the peer does
                    }
                }).bind(new InetSocketAddress(args[0], 0)).sync().channel();
        Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                .option(ChannelOption.SO_LINGER, LINGER_SECONDS).handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel();
        System.out.println("connected");
        client.close().sync();
        System.out.println("closed");
        server.close().sync();
        group.shutdownGracefully(0, LINGER_SECONDS, TimeUnit.SECONDS).sync();
        System.out.println("ended");
        busy = false;
    }
}
