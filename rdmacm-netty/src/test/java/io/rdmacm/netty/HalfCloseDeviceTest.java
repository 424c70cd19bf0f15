// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
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
