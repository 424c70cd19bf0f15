// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A writer that is faster than its reader, and writes that share a message. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class FlowDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    private static final int CHUNK = 10_000;
    private static final int HIGH = 1 << 16;
    private static final int WRITES = 100;
    private static final int SIZE = 10;

    @ParameterizedTest
    @EnumSource
    void whatNobodyHasReadGoesWithTheChannel(Loops loops) throws Exception {
        for (int i = 0; i < 5; i++) {
            try (ChannelPair pair = ChannelPair.connect(loops,
                    server -> server.childOption(ChannelOption.AUTO_READ, false), client -> { })) {
                pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[CHUNK])).sync();
                pair.client().close().sync();
                pair.server().close().sync();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSlowReaderMakesTheWriterUnwritable(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(1, 1 << 20);
        try (ChannelPair pair = ChannelPair.connect(loops, server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(HIGH / 2, HIGH)))) {
            Channel client = pair.client();
            int written = 0;
            while (client.isWritable()) {
                client.writeAndFlush(Unpooled.wrappedBuffer(data, written, CHUNK));
                written += CHUNK;
                // so that all of it has been tried
                client.eventLoop().submit(() -> { }).sync();
            }

            assertThat(pair.atClient().next()).isEqualTo("not writable");
            assertThat(client.bytesBeforeWritable()).isPositive();
            // what the two buffers of the stream hold, and the channel
            assertThat(written).isBetween(HIGH, 2 * (1 << 17) + HIGH + 2 * CHUNK);
            assertThat(pair.atServer().received()).isEmpty();
            pair.server().config().setAutoRead(true);
            assertThat(pair.atClient().next()).isEqualTo("writable");
            assertThat(pair.atServer().received(written)).isEqualTo(Arrays.copyOf(data, written));
            assertThat(client.isWritable()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutAutoreadEachReadIsAskedFor(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(2, 4 * CHUNK);
        try (ChannelPair pair = ChannelPair.connect(loops, server -> server.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR,
                        new FixedRecvByteBufAllocator(CHUNK).maxMessagesPerRead(1)), client -> { })) {
            pair.client().writeAndFlush(Unpooled.wrappedBuffer(data)).sync();
            for (int total = CHUNK; total <= data.length; total += CHUNK) {
                pair.server().read();
                pair.atServer().received(total);
                // The event loop goes round, and reads nothing that was not asked for.
                pair.server().eventLoop().submit(() -> { }).sync();
                assertThat(pair.atServer().received()).isEqualTo(Arrays.copyOf(data, total));
            }
        }
    }

    /** A peer with credits for so few messages that each write cannot have one of its own, and that does not look. */
    @ParameterizedTest
    @EnumSource
    void writesThatAreFlushedTogetherShareMessages(Loops loops) throws Exception {
        StreamSettings few = StreamSettings.builder().receiveQueueSize(StreamSettings.MIN_QUEUE_SIZE).build();
        byte[] data = ChannelPair.data(3, WRITES * SIZE);
        EventLoopGroup group = loops.group();
        try (RdmaStreamServer server = RdmaStreamServer.listen(Loops.anyPort(), 1, few)) {
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
            try (RdmaStream peer = server.accept(TIMEOUT)) {
                for (int i = 0; i < WRITES; i++) {
                    client.write(Unpooled.wrappedBuffer(data, i * SIZE, SIZE));
                }
                ChannelFuture all = client.writeAndFlush(Unpooled.EMPTY_BUFFER);
                assertThat(all.await(TIMEOUT.toMillis())).isTrue();
                assertThat(read(peer, data.length)).isEqualTo(data);

                // The other way round: with a flush each, the credits do not suffice.
                ChannelFuture last = null;
                for (int i = 0; i < WRITES; i++) {
                    last = client.writeAndFlush(Unpooled.wrappedBuffer(data, i * SIZE, SIZE));
                    client.eventLoop().submit(() -> { }).sync();
                }
                assertThat(last.isDone()).isFalse();
                assertThat(read(peer, data.length)).isEqualTo(data);
                last.sync();
                client.close().sync();
            }
        } finally {
            ChannelPair.end(group);
        }
    }

    private static byte[] read(RdmaStream stream, int length) throws Exception {
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining()) {
            assertThat(stream.read(target, TIMEOUT)).isPositive();
        }
        return target.array();
    }
}
