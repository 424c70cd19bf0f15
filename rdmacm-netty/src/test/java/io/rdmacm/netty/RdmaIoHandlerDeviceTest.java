// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.LoopThread;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How an event loop over RDMA polls, sleeps and is woken, and what it does not put up with. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class RdmaIoHandlerDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> {
        ChannelPair.warmUp();
        // The JDK keeps a file from the first of its channels on.
        SocketChannel.open().close();
    });

    private static final int CHANNELS = 200;
    private static final int LENGTH = 1000;
    private static final int SAMPLES = 200;

    /** As an event loop would call it that has nothing to do and must not wait. */
    private static final class Impatient implements IoHandlerContext {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return -1;
        }
    }

    /** The thread that an event loop takes for its own. */
    private record OneThread(Thread thread) implements ThreadAwareExecutor {
        @Override
        public boolean isExecutorThread(Thread other) {
            return other == thread;
        }

        @Override
        public void execute(Runnable command) {
            throw new UnsupportedOperationException();
        }
    }

    private static void exchange(ChannelPair pair, int total) throws InterruptedException {
        pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).sync();
        pair.atServer().received(total);
        pair.server().writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).sync();
        pair.atClient().received(total);
    }

    @Test
    void sleepsWhenNothingHappensAndIsWokenByDataTasksAndTimers() throws Exception {
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA)) {
            EventLoop loop = pair.client().eventLoop();
            for (int i = 1; i < 20; i++) {
                LoopThread.awaitAsleep(loop);
                LoopThread.awaitAsleep(pair.server().eventLoop());
                exchange(pair, i);
                LoopThread.awaitAsleep(loop);
                assertThat(loop.submit(() -> 7).get(Recorder.SECONDS, TimeUnit.SECONDS)).isEqualTo(7);
                LoopThread.awaitAsleep(loop);
                assertThat(loop.schedule(() -> 8, 1, TimeUnit.MILLISECONDS).get(Recorder.SECONDS, TimeUnit.SECONDS))
                        .isEqualTo(8);
            }
        }
    }

    @Test
    void pollsAsLongAsItIsToldAndTakesTasks() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                RdmaIoHandler.newFactory(WaitPolicy.spinFor(Duration.ofDays(1))));
        try {
            // A loop without channels has nothing to poll.
            LoopThread.awaitAsleep(start(group));
            Recorder atClient = new Recorder();
            Recorder atServer = new Recorder();
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(atServer).bind(Loops.anyPort()).sync().channel();
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(atClient)
                    .connect(server.localAddress()).sync().channel();
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).sync();
            atServer.received(1);
            for (int i = 0; i < SAMPLES; i++) {
                assertThat(LoopThread.isAsleep(client.eventLoop())).isFalse();
                assertThat(client.eventLoop().submit(() -> 7).get(Recorder.SECONDS, TimeUnit.SECONDS)).isEqualTo(7);
            }
        } finally {
            ChannelPair.end(group);
        }
    }

    private static EventLoop start(EventLoopGroup group) throws InterruptedException {
        EventLoop loop = group.next();
        loop.submit(() -> { }).sync();
        return loop;
    }

    @Test
    void manyThreadsWakeIt() throws Exception {
        EventLoopGroup group = Loops.RDMA.group();
        try {
            EventLoop loop = start(group);
            List<Background<Integer>> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Background.call(() -> {
                    int sum = 0;
                    for (int j = 0; j < 1000; j++) {
                        sum += loop.submit(() -> 1).get(Recorder.SECONDS, TimeUnit.SECONDS);
                    }
                    return sum;
                }));
            }
            for (Background<Integer> thread : threads) {
                assertThat(thread.result()).isEqualTo(1000);
            }
        } finally {
            ChannelPair.end(group);
        }
    }

    @Nightly
    @Test
    void drivesTwoHundredChannels() throws Exception {
        EventLoopGroup group = Loops.RDMA.group();
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelRead(ChannelHandlerContext context, Object message) {
                                    context.writeAndFlush(message);
                                }
                            });
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            List<Channel> clients = new ArrayList<>();
            List<Recorder> recorders = new ArrayList<>();
            for (int i = 0; i < CHANNELS / 2; i++) {
                Recorder recorder = new Recorder();
                clients.add(new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(recorder)
                        .connect(server.localAddress()).sync().channel());
                recorders.add(recorder);
            }
            for (int round = 1; round <= 3; round++) {
                for (int i = 0; i < clients.size(); i++) {
                    clients.get(i).writeAndFlush(Unpooled.wrappedBuffer(ChannelPair.data(i, LENGTH)));
                }
                for (int i = 0; i < clients.size(); i++) {
                    assertThat(recorders.get(i).received(round * LENGTH)).hasSize(round * LENGTH)
                            .endsWith(ChannelPair.data(i, LENGTH));
                }
                LoopThread.awaitAsleep(group.next());
            }
        } finally {
            ChannelPair.end(group);
        }
    }

    @Test
    void channelsOfOtherTransportsAreRefused() throws Exception {
        EventLoopGroup group = Loops.RDMA.group();
        try {
            ChannelFuture registered = new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).register().await();
            assertThat(registered.cause()).isInstanceOf(IllegalStateException.class);
            assertThat(start(group).submit(() -> 7).get()).isEqualTo(7);
        } finally {
            ChannelPair.end(group);
        }
    }

    @Test
    void otherEventLoopsRefuseItsChannels() throws Exception {
        for (EventLoopGroup group : List.of(new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
                new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory()))) {
            try {
                ChannelFuture connected = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                        .handler(new ChannelInboundHandlerAdapter()).connect(Loops.anyPort()).await();
                assertThat(connected.cause()).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("RdmaIoHandler or EpollIoHandler");
                assertThat(connected.channel().isOpen()).isFalse();
                ChannelFuture bound = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter()).bind(Loops.anyPort()).await();
                assertThat(bound.cause()).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("RdmaIoHandler or EpollIoHandler");
                assertThat(bound.channel().isOpen()).isFalse();
            } finally {
                ChannelPair.end(group);
            }
        }
    }

    @Test
    void isUsedInItsThreadAlone() throws Exception {
        IoHandler handler = RdmaIoHandler.newFactory().newHandler(new OneThread(Thread.currentThread()));
        IoHandle foreign = new IoHandle() {
            @Override
            public void handle(IoRegistration registration, IoEvent event) {
                throw new UnsupportedOperationException();
            }

            @Override
            public void close() {
                throw new UnsupportedOperationException();
            }
        };
        try (Background<Void> other = Background.run(() -> {
            assertThatIllegalStateException().isThrownBy(() -> handler.run(new Impatient()))
                    .withMessageContaining("only in the thread of its event loop");
            assertThatIllegalStateException().isThrownBy(() -> handler.register(foreign));
            assertThatIllegalStateException().isThrownBy(handler::prepareToDestroy);
            assertThatIllegalStateException().isThrownBy(handler::destroy);
            handler.wakeup();
        })) {
            other.result();
        }
        assertThatIllegalArgumentException().isThrownBy(() -> handler.register(foreign));
        assertThat(handler.isCompatible(foreign.getClass())).isFalse();
        assertThat(handler.run(new Impatient())).isZero();
        handler.prepareToDestroy();
        handler.destroy();
        handler.destroy();
        handler.prepareToDestroy();
        handler.wakeup();
        assertThatIllegalStateException().isThrownBy(() -> handler.run(new Impatient()))
                .withMessageContaining("destroyed");
    }
}
