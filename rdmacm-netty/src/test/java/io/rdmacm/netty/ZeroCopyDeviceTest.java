// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.internal.PlatformDependent;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is written from registered memory: the stream counts the bytes that it sends from the program's memory. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class ZeroCopyDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final int LENGTH = 1 << 14;

    private static ChannelPair connect(Loops loops, RdmaByteBufAllocator allocator) throws InterruptedException {
        return ChannelPair.connect(loops, server -> { },
                client -> client.option(ChannelOption.ALLOCATOR, allocator));
    }

    private static long lent(Channel channel) {
        return ((RdmaStreamChannel) channel).stream().lentBytes();
    }

    private static void awaitFreed(ByteBuf buffer) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Recorder.SECONDS);
        while (buffer.refCnt() > 0 && System.nanoTime() < end) {
            Thread.yield();
        }
        assertThat(buffer.refCnt()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void largeBuffersOfTheAllocatorAreSentFromWhereTheyAre(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(1, LENGTH);
        try (ChannelPair pair = connect(loops, new RdmaByteBufAllocator())) {
            Channel client = pair.client();
            ByteBuf whole = client.alloc().directBuffer(LENGTH).writeBytes(data);
            ByteBuf grown = client.alloc().directBuffer(1).writeBytes(data);
            ByteBuf part = client.alloc().directBuffer(3 * LENGTH).writeZero(LENGTH).writeBytes(data);
            client.write(whole);
            client.write(grown);
            client.writeAndFlush(part.skipBytes(LENGTH).readRetainedSlice(LENGTH)).sync();
            part.release();

            assertThat(lent(client)).isEqualTo(3 * LENGTH);
            byte[] received = pair.atServer().received(3 * LENGTH);
            for (int i = 0; i < 3; i++) {
                assertThat(Arrays.copyOfRange(received, i * LENGTH, (i + 1) * LENGTH)).isEqualTo(data);
            }
            // No further traffic is needed for that.
            awaitFreed(whole);
            awaitFreed(grown);
            awaitFreed(part);
        }
    }

    @ParameterizedTest
    @EnumSource
    void otherBuffersAreCopied(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(2, LENGTH);
        try (ChannelPair pair = connect(loops, new RdmaByteBufAllocator())) {
            Channel client = pair.client();
            client.write(client.alloc().heapBuffer().writeBytes(data));
            client.write(PooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(data));
            client.writeAndFlush(client.alloc().directBuffer().writeBytes(data, 0, 100)).sync();

            assertThat(pair.atServer().received(2 * LENGTH + 100)).endsWith(Arrays.copyOf(data, 100));
            assertThat(lent(client)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void copiedAndUncopiedBuffersStayInOrder(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(3, 64 * LENGTH);
        try (ChannelPair pair = connect(loops, new RdmaByteBufAllocator())) {
            Channel client = pair.client();
            int offset = 0;
            int lent = 0;
            for (int i = 0; offset < data.length; i++) {
                int length = Math.min(i % 3 == 0 ? LENGTH : 1 + i, data.length - offset);
                lent += length >= 4096 ? length : 0;
                client.write(client.alloc().directBuffer().writeBytes(data, offset, length));
                offset += length;
            }
            client.flush();

            assertThat(pair.atServer().received(data.length)).isEqualTo(data);
            // The end of a buffer that did not fit as a whole may be copied.
            assertThat(lent(client)).isBetween(lent / 2L, (long) lent);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCloseFreesWhatTheDeviceHasNotRead(Loops loops) throws Exception {
        RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
        List<ByteBuf> buffers = new ArrayList<>();
        try (ChannelPair pair = connect(loops, allocator)) {
            pair.server().config().setAutoRead(false);
            ChannelFuture last = null;
            for (int i = 0; i < 64; i++) {
                ByteBuf buffer = allocator.directBuffer(LENGTH).writeZero(LENGTH);
                buffers.add(buffer);
                last = pair.client().writeAndFlush(buffer);
            }
            pair.client().close().sync();

            assertThat(last.await(Recorder.SECONDS * 1000)).isTrue();
            buffers.forEach(ZeroCopyDeviceTest::awaitFreed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBufferOutlivesTheChannels(Loops loops) throws Exception {
        byte[] data = ChannelPair.data(4, LENGTH);
        RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
        ByteBuf buffer;
        try (ChannelPair pair = connect(loops, allocator)) {
            buffer = pair.client().alloc().directBuffer(LENGTH).writeBytes(data);
            assertThat(RdmaByteBufAllocator.sliceOf(buffer)).isNotNull();
        }
        assertThat(buffer.getByte(LENGTH - 1)).isEqualTo(data[LENGTH - 1]);
        try (ChannelPair pair = connect(loops, allocator)) {
            pair.client().writeAndFlush(buffer).sync();
            assertThat(pair.atServer().received(LENGTH)).isEqualTo(data);
        }
        awaitFreed(buffer);
        awaitNoRegisteredMemory(allocator);
    }

    @ParameterizedTest
    @EnumSource
    void aBufferThatCannotGrowKeepsItsMemory(Loops loops) throws Exception {
        Assumptions.assumeTrue(PlatformDependent.maxDirectMemory() < Integer.MAX_VALUE,
                "the JVM may use 2 GiB of direct memory, to which the buffer would grow");
        RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
        try (ChannelPair pair = connect(loops, allocator)) {
            ByteBuf buffer = pair.client().alloc().directBuffer(LENGTH).writeByte(7);
            assertThatThrownBy(() -> buffer.capacity(Integer.MAX_VALUE)).isInstanceOf(OutOfMemoryError.class);
            assertThat(RdmaByteBufAllocator.sliceOf(buffer)).isNotNull();
            assertThat(buffer.getByte(0)).isEqualTo((byte) 7);
            buffer.release();
        }
        awaitNoRegisteredMemory(allocator);
    }

    /** The channels are closed, but their streams are freed in the background. */
    private static void awaitNoRegisteredMemory(RdmaByteBufAllocator allocator) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Recorder.SECONDS);
        while (registers(allocator)) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.yield();
        }
    }

    private static boolean registers(RdmaByteBufAllocator allocator) {
        ByteBuf buffer = allocator.directBuffer(LENGTH);
        boolean registered = RdmaByteBufAllocator.sliceOf(buffer) != null;
        buffer.release();
        return registered;
    }
}
