// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread that is not of an event loop closes a channel while both ends write all the time. */
@Nightly
@RequiresRdma
@ExtendWith(NoLeaks.class)
class CloseUnderTrafficDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final int ROUNDS = 20;
    private static final int LENGTH = 5000;
    private static final long SOME = 1 << 18;

    /** Writes as long as there is room, and counts what it reads. */
    private static final class Busy extends SimpleChannelInboundHandler<ByteBuf> {
        private final BlockingQueue<Busy> active;
        private final AtomicLong received = new AtomicLong();
        private volatile Channel channel;
        private volatile Throwable cause;

        Busy(BlockingQueue<Busy> active) {
            this.active = active;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = context.channel();
            active.add(this);
            write(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            write(context);
        }

        private static void write(ChannelHandlerContext context) {
            while (context.channel().isWritable()) {
                context.write(context.alloc().directBuffer(LENGTH).writeZero(LENGTH));
            }
            context.flush();
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            received.addAndGet(message.readableBytes());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable exception) {
            cause = exception;
        }

        void awaitSome() {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Recorder.SECONDS);
            while (received.get() < SOME && System.nanoTime() < end) {
                Thread.yield();
            }
            assertThat(received.get()).isGreaterThanOrEqualTo(SOME);
        }
    }

    @ParameterizedTest
    @EnumSource
    void bothEndsAreClosed(Loops loops) throws Exception {
        Random random = Seed.random(5);
        BlockingQueue<Busy> servers = new LinkedBlockingQueue<>();
        BlockingQueue<Busy> clients = new LinkedBlockingQueue<>();
        RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
        EventLoopGroup serverGroup = loops.group();
        EventLoopGroup clientGroup = loops.group();
        try {
            Channel listener = new ServerBootstrap().group(serverGroup).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Busy(servers));
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            for (int i = 0; i < ROUNDS; i++) {
                new Bootstrap().group(clientGroup).channel(RdmaStreamChannel.class)
                        .option(ChannelOption.ALLOCATOR, allocator).handler(new Busy(clients))
                        .connect(listener.localAddress()).sync();
                Busy server = servers.poll(Recorder.SECONDS, TimeUnit.SECONDS);
                Busy client = clients.poll(Recorder.SECONDS, TimeUnit.SECONDS);
                Busy first = random.nextBoolean() ? server : client;
                server.awaitSome();
                client.awaitSome();
                for (int j = random.nextInt(200); j > 0; j--) {
                    Thread.yield();
                }
                assertThat(first.channel.close().await(Recorder.SECONDS * 1000)).isTrue();
                for (Busy end : List.of(server, client)) {
                    assertThat(end.channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
                    assertThat(end.cause == null || end.cause instanceof IOException).isTrue();
                }
            }
            listener.close().sync();
        } finally {
            ChannelPair.end(clientGroup);
            ChannelPair.end(serverGroup);
        }
    }
}
