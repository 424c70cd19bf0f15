// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One side shuts down its output, and the other one goes on. Netty's own tests of it have TCP sockets as peers. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class HalfCloseDeviceTest {
    private static final long SECONDS = 240;

    /** Keeps what happens. */
    private static final class Recorder extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private volatile SocketChannel channel;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = (SocketChannel) context.channel();
            events.add("active");
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            events.add(buffer.toString(StandardCharsets.UTF_8));
            buffer.release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                events.add("end");
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            events.add("inactive");
        }

        String next() throws InterruptedException {
            return events.poll(SECONDS, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theOtherDirectionStaysOpen(Loops loops) throws Exception {
        Recorder server = new Recorder();
        Recorder client = new Recorder();
        EventLoopGroup group = loops.group();
        try {
            Channel listener = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true).childHandler(server).bind(Loops.anyPort())
                    .sync().channel();
            Channel channel = new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(client)
                    .connect(listener.localAddress()).sync().channel();
            assertThat(server.next()).isEqualTo("active");
            assertThat(client.next()).isEqualTo("active");

            ((SocketChannel) channel).shutdownOutput().sync();
            assertThat(((SocketChannel) channel).isOutputShutdown()).isTrue();
            assertThat(server.next()).isEqualTo("end");
            assertThat(server.channel.isInputShutdown()).isTrue();
            assertThat(server.channel.isActive()).isTrue();

            server.channel.writeAndFlush(ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, "still here")).sync();
            assertThat(client.next()).isEqualTo("still here");

            server.channel.close().sync();
            assertThat(server.next()).isEqualTo("inactive");
            assertThat(client.next()).isEqualTo("inactive");
            listener.close().sync();
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    private static void loseABuffer() {
        new RdmaByteBufAllocator().directBuffer(64);
    }

    @Test
    void aLeakedBufferIsReported() {
        loseABuffer();
        List<String> reports = NoLeaks.reports();
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
                reports.isEmpty() && System.nanoTime() < end; reports = NoLeaks.reports()) {
            Thread.onSpinWait();
        }
        assertThat(reports).isNotEmpty();
    }
}
