// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many bytes in both directions at once, compared by their hash. The property {@code io.rdmacm.transferBytes} says how
 * many.
 */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class LargeTransferDeviceTest {
    private static final long BYTES = Long.getLong("io.rdmacm.transferBytes", 1_000_003);
    private static final int PIECE = 1 << 16;
    private static final long SECONDS = 600;

    /** What one side sends: pieces that differ, from one that is as good as random. */
    private static final class Source {
        private final byte[] piece = new byte[PIECE];
        private final MessageDigest digest = digest();
        private long left = BYTES;

        Source(boolean client) {
            new Random(client ? 1 : 2).nextBytes(piece);
        }

        /** Returns the length of the next piece, 0 at the end. */
        int next() {
            int length = (int) Math.min(left, PIECE);
            ByteBuffer.wrap(piece).putLong(0, left);
            digest.update(piece, 0, length);
            left -= length;
            return length;
        }

        /** Returns the hash of all pieces. */
        static String expected(boolean client) {
            Source source = new Source(client);
            while (source.next() > 0) {
                // Each one is hashed.
            }
            return text(source.digest);
        }
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    @Test
    void byBlockingChannels() throws Exception {
        var provider = new RdmaSelectorProvider();
        try (var server = provider.openServerSocketChannel().bind(Loops.anyPort());
                var client = provider.openSocketChannel();
                Background<java.nio.channels.SocketChannel> accepting = Background.call(server::accept)) {
            client.connect(server.getLocalAddress());
            try (var accepted = accepting.result();
                    Background<Void> up = Background.run(() -> send(client, true));
                    Background<Void> down = Background.run(() -> send(accepted, false));
                    Background<String> received = Background.call(() -> receive(client))) {
                assertThat(receive(accepted)).isEqualTo(Source.expected(true));
                assertThat(received.result()).isEqualTo(Source.expected(false));
                up.result();
                down.result();
            }
        }
    }

    private static void send(java.nio.channels.SocketChannel channel, boolean client) throws Exception {
        Source source = new Source(client);
        for (int length = source.next(); length > 0; length = source.next()) {
            channel.write(ByteBuffer.wrap(source.piece, 0, length));
        }
        channel.shutdownOutput();
    }

    private static String receive(java.nio.channels.SocketChannel channel) throws Exception {
        MessageDigest digest = digest();
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
        while (channel.read(buffer.clear()) >= 0) {
            digest.update(buffer.flip());
        }
        return text(digest);
    }

    @ParameterizedTest
    @EnumSource
    void byNetty(Loops loops) throws Exception {
        assertArrives(loops, ByteBufAllocator.DEFAULT);
    }

    @ParameterizedTest
    @EnumSource
    void byNettyWithoutACopy(Loops loops) throws Exception {
        assertArrives(loops, new RdmaByteBufAllocator());
    }

    private static void assertArrives(Loops loops, ByteBufAllocator allocator) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Side accepted = new Side(false);
            Side client = new Side(true);
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childOption(ChannelOption.ALLOCATOR, allocator).childHandler(accepted)
                    .bind(Loops.anyPort()).sync().channel();
            Channel channel = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator).handler(client)
                    .connect(server.localAddress()).sync().channel();
            assertThat(accepted.received.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(Source.expected(true));
            assertThat(client.received.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(Source.expected(false));
            channel.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    /** Sends as long as there is room, and hashes what arrives. */
    private static final class Side extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<String> received = new CompletableFuture<>();
        private final MessageDigest digest = digest();
        private final Source source;
        private long left = BYTES;

        Side(boolean client) {
            source = new Source(client);
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            send(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            while (source.left > 0 && context.channel().isWritable()) {
                int length = source.next();
                context.writeAndFlush(context.alloc().directBuffer(length).writeBytes(source.piece, 0, length));
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
            left -= part.readableBytes();
            Arrays.stream(part.nioBuffers()).forEach(digest::update);
            if (left == 0) {
                received.complete(text(digest));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            received.completeExceptionally(new AssertionError("the channel was closed, " + left + " bytes missing"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            received.completeExceptionally(cause);
        }
    }
}
