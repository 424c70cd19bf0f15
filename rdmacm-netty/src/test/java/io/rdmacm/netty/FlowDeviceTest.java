// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FileRegion;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.AbstractReferenceCounted;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.LoopThread;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A writer that is faster than its reader, and writes that share a message. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class FlowDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    @TempDir
    private Path folder;

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

    /** Files of no bytes, buffers of no bytes, and those of other lengths. */
    @ParameterizedTest
    @EnumSource
    void whatIsEmptyIsWrittenInItsTurn(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(5, CHUNK);
        Path file = Files.write(folder.resolve("file"), data);
        try (ChannelPair pair = ChannelPair.connect(loops); FileChannel source = FileChannel.open(file)) {
            Channel client = pair.client();
            List<ChannelFuture> futures = List.of(client.writeAndFlush(Unpooled.EMPTY_BUFFER),
                    client.write(new DefaultFileRegion(FileChannel.open(file), 0, 0)),
                    client.write(Unpooled.buffer(10)),
                    client.write(new DefaultFileRegion(FileChannel.open(file), 0, CHUNK)),
                    client.write(new DefaultFileRegion(FileChannel.open(file), CHUNK, 0)),
                    client.write(Unpooled.compositeBuffer().addComponents(Unpooled.EMPTY_BUFFER)),
                    client.write(new Doubled(source, CHUNK)),
                    client.writeAndFlush(Unpooled.EMPTY_BUFFER));
            for (ChannelFuture future : futures) {
                assertThat(future.await(TIMEOUT.toMillis())).isTrue();
                assertThat(future.cause()).isNull();
            }
            byte[] received = pair.atServer().received(3 * CHUNK);
            assertThat(Arrays.copyOf(received, CHUNK)).isEqualTo(data);
            assertThat(received).hasSize(3 * CHUNK);
            for (int i = 0; i < CHUNK; i++) {
                assertThat(received[CHUNK + 2 * i]).isEqualTo(data[i]).isEqualTo(received[CHUNK + 2 * i + 1]);
            }
        }
    }

    /** A region that is longer on the wire than it says, as those that encrypt or frame are. */
    private static final class Doubled extends AbstractReferenceCounted implements FileRegion {
        private final ByteBuffer twice;
        private final int count;
        private boolean done;

        Doubled(FileChannel file, int count) throws IOException {
            this.count = count;
            ByteBuffer once = ByteBuffer.allocate(count);
            assertThat(file.read(once, 0)).isEqualTo(count);
            twice = ByteBuffer.allocate(2 * count);
            for (byte value : once.array()) {
                twice.put(value).put(value);
            }
            twice.flip();
        }

        @Override
        public long position() {
            return 0;
        }

        @Override
        @Deprecated
        public long transfered() {
            return transferred();
        }

        @Override
        public long transferred() {
            return twice.position() / 2;
        }

        @Override
        public long count() {
            return count;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            assertThat(done).isFalse();
            long written = target.write(twice);
            done = !twice.hasRemaining();
            return written;
        }

        @Override
        public FileRegion retain() {
            super.retain();
            return this;
        }

        @Override
        public FileRegion retain(int increment) {
            super.retain(increment);
            return this;
        }

        @Override
        public FileRegion touch() {
            return this;
        }

        @Override
        public FileRegion touch(Object hint) {
            return this;
        }

        @Override
        protected void deallocate() {
            twice.limit(0);
        }
    }

    /** A file that is truncated while it waits to be sent. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void aRegionBeyondItsFileFails(Loops loops) throws Exception {
        Path file = Files.write(folder.resolve("file"), ChannelPair.data(6, CHUNK));
        try (ChannelPair pair = ChannelPair.connect(loops)) {
            FileRegion region = new DefaultFileRegion(FileChannel.open(file), 0, 2 * CHUNK);
            ChannelFuture future = pair.client().writeAndFlush(region);
            assertThat(future.await(TIMEOUT.toMillis())).isTrue();
            assertThat(future.cause()).isInstanceOf(IOException.class);
            assertThat(region.refCnt()).isZero();
            LoopThread.awaitAsleep(pair.client().eventLoop());
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
