// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.SocketChannel;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.LoopThread;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One side shuts down its output, and the other one goes on. Netty's own tests of it have TCP sockets as peers. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class HalfCloseDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final long SECONDS = 240;

    private static Stream<Arguments> cases() {
        return Arrays.stream(Loops.values())
                .flatMap(loops -> Stream.of(Arguments.of(loops, true), Arguments.of(loops, false)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theOtherDirectionStaysOpen(Loops loops, boolean clientFirst) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops,
                server -> server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true),
                client -> client.option(ChannelOption.ALLOW_HALF_CLOSURE, true))) {
            SocketChannel first = clientFirst ? pair.client() : pair.server();
            SocketChannel second = clientFirst ? pair.server() : pair.client();
            Recorder atFirst = clientFirst ? pair.atClient() : pair.atServer();
            Recorder atSecond = clientFirst ? pair.atServer() : pair.atClient();

            first.shutdownOutput().sync();
            assertThat(first.isOutputShutdown()).isTrue();
            assertThat(atSecond.next()).isEqualTo("end");
            assertThat(second.isInputShutdown()).isTrue();
            assertThat(second.isActive()).isTrue();

            second.writeAndFlush(ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, "still here")).sync();
            assertThat(new String(atFirst.received(10), StandardCharsets.UTF_8)).isEqualTo("still here");
            assertThat(atFirst.events()).isEmpty();

            second.close().sync();
            assertThat(atSecond.next()).isEqualTo("inactive");
            assertThat(atFirst.next()).isEqualTo("end");
            first.close().sync();
            assertThat(atFirst.next()).isEqualTo("inactive");
        }
    }

    /** What had not been written is given up, and the event loop does not go on trying. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void theLoopSleepsAfterTheOutputWasShutDownWithAWritePending(Loops loops) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops,
                server -> server.childOption(ChannelOption.AUTO_READ, false), client -> { })) {
            // more than there is room for
            ChannelFuture write = pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
            assertThat(pair.atClient().next()).isEqualTo("not writable");
            LoopThread.awaitAsleep(pair.client().eventLoop());
            pair.client().shutdownOutput().sync();
            assertThat(write.await(SECONDS * 1000)).isTrue();
            assertThat(write.cause()).isInstanceOf(ChannelOutputShutdownException.class);

            LoopThread.awaitAsleep(pair.client().eventLoop());
        }
    }

    /** Nobody reads by itself, but the program asks again and again. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void withoutAutoreadTheEndIsToldOnceAndTheLoopSleeps(Loops loops) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops,
                server -> server.childOption(ChannelOption.AUTO_READ, false)
                        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true), client -> { })) {
            AtomicInteger complete = new AtomicInteger();
            pair.server().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                    if (event == ChannelInputShutdownReadComplete.INSTANCE) {
                        complete.incrementAndGet();
                    }
                    context.fireUserEventTriggered(event);
                }
            });
            pair.client().shutdownOutput().sync();
            pair.server().read();
            assertThat(pair.atServer().next()).isEqualTo("end");
            for (int i = 0; i < 10; i++) {
                pair.server().read();
                pair.server().eventLoop().submit(() -> { }).sync();
            }
            assertThat(LoopThread.busy(pair.server().eventLoop())).isLessThan(0.5);
            assertThat(complete).hasValue(1);
            assertThat(pair.atServer().events()).isEmpty();
            assertThat(pair.server().isActive()).isTrue();
        }
    }

    /** As over TCP, who does not read learns of the end by a read only; what was sent before it arrives first. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void withoutAutoreadNothingIsLostWhenThePeerCloses(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(4, 50_000);
        try (ChannelPair pair = ChannelPair.connect(loops,
                server -> server.childOption(ChannelOption.AUTO_READ, false), client -> { })) {
            pair.client().writeAndFlush(Unpooled.wrappedBuffer(data)).sync();
            pair.client().close().sync();
            LoopThread.awaitAsleep(pair.server().eventLoop());
            assertThat(pair.atServer().events()).isEmpty();
            while (pair.atServer().events().isEmpty()) {
                pair.server().read();
                pair.server().eventLoop().submit(() -> { }).sync();
            }
            assertThat(pair.atServer().next()).isEqualTo("inactive");
            assertThat(pair.atServer().received()).isEqualTo(data);
        }
    }

    /** A server that refuses a request before all of it was sent: its answer is read although the write fails. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void anAnswerIsReadAlthoughTheRestOfTheRequestCannotBeWritten(Loops loops) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops, server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> { })) {
            ChannelFuture request = pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
            assertThat(pair.atClient().next()).isEqualTo("not writable");
            // The flush has begun before the peer closes, and waits for room.
            pair.client().eventLoop().submit(() -> { }).sync();
            CountDownLatch closed = new CountDownLatch(1);
            // The loop of the client learns of both at once.
            pair.client().eventLoop().execute(() -> await(closed));
            pair.server().writeAndFlush(ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, "too large")).sync();
            pair.server().close().sync();
            closed.countDown();
            assertThat(request.await(SECONDS * 1000)).isTrue();
            assertThat(request.cause()).isInstanceOf(IOException.class);
            assertThat(pair.client().closeFuture().await(SECONDS * 1000)).isTrue();
            assertThat(new String(pair.atClient().received(), StandardCharsets.UTF_8)).isEqualTo("too large");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The same for a program that reads when it wants to, and closes by itself. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void anAnswerCanBeReadAfterTheRequestHasFailed(Loops loops) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops, server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.AUTO_READ, false).option(ChannelOption.AUTO_CLOSE, false)
                        .option(ChannelOption.ALLOW_HALF_CLOSURE, true))) {
            ChannelFuture request = pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
            assertThat(pair.atClient().next()).isEqualTo("not writable");
            pair.server().writeAndFlush(ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, "too large")).sync();
            pair.server().close().sync();
            assertThat(request.await(SECONDS * 1000)).isTrue();
            assertThat(request.cause()).isInstanceOf(IOException.class);
            assertThat(pair.client().isOpen()).isTrue();
            pair.client().read();
            assertThat(new String(pair.atClient().received(9), StandardCharsets.UTF_8)).isEqualTo("too large");
        }
    }

    /** SO_LINGER is for closing. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void aChannelThatLingersReadsAfterItHasShutDownItsOutput(Loops loops) throws Exception {
        try (ChannelPair pair = ChannelPair.connect(loops,
                server -> server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true),
                client -> client.option(ChannelOption.SO_LINGER, 200))) {
            pair.client().shutdownOutput().sync();
            assertThat(pair.atServer().next()).isEqualTo("end");
            pair.server().writeAndFlush(ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, "still here")).sync();
            assertThat(new String(pair.atClient().received(10), StandardCharsets.UTF_8)).isEqualTo("still here");
            pair.server().close().sync();
            assertThat(pair.atClient().next()).isEqualTo("inactive");
        }
    }

    /** What was written is delivered, and the event loop does something else meanwhile. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void aChannelThatLingersDoesNotHoldUpItsLoop(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(7, 30_000);
        try (ChannelPair pair = ChannelPair.connect(loops, server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.SO_LINGER, 200))) {
            pair.client().writeAndFlush(Unpooled.wrappedBuffer(data)).sync();
            ChannelFuture closing = pair.client().close();
            pair.client().eventLoop().submit(() -> { }).sync();
            LoopThread.awaitAsleep(pair.client().eventLoop());
            pair.server().config().setAutoRead(true);
            assertThat(pair.atServer().received(data.length)).isEqualTo(data);
            closing.sync();
            assertThat(pair.atClient().next()).isEqualTo("inactive");
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
