// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that sends back what it gets, and a client, over event loops of all kinds. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class EchoDeviceTest {
    private static final long SECONDS = 240;
    private static final int LENGTH = 1 << 21;

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Collects so many bytes. */
    private static final class Collector extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<byte[]> done = new CompletableFuture<>();
        private final byte[] bytes;
        private int length;

        Collector(int size) {
            bytes = new byte[size];
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
            int count = part.readableBytes();
            part.readBytes(bytes, length, count);
            length += count;
            if (length == bytes.length) {
                done.complete(bytes);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    @ParameterizedTest
    @EnumSource
    void comesBack(Loops loops) throws Exception {
        assertEcho(loops, ByteBufAllocator.DEFAULT);
    }

    @ParameterizedTest
    @EnumSource
    void comesBackFromRegisteredMemory(Loops loops) throws Exception {
        assertEcho(loops, new RdmaByteBufAllocator());
    }

    private static void assertEcho(Loops loops, ByteBufAllocator allocator) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childOption(ChannelOption.ALLOCATOR, allocator)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            byte[] data = new byte[LENGTH];
            new Random(1).nextBytes(data);
            Collector collector = new Collector(LENGTH);
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator).handler(collector)
                    .connect(server.localAddress()).sync().channel();
            for (int i = 0; i < LENGTH; i += 1 << 16) {
                client.write(client.alloc().directBuffer().writeBytes(data, i, 1 << 16));
            }
            client.flush();

            assertThat(collector.done.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(data);
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
    }
}
