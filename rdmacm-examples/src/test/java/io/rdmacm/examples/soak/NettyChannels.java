// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/** Channels of Netty, to a server that sends back what it receives, on event loops of one of both kinds. */
final class NettyChannels implements Scenario {
    private static final int LONGEST = 300_000;
    private static final int MAX = 8;
    private static final byte[] END = {};

    private final Class<? extends Fixture> kind;
    private final IoHandlerFactory handlers;

    /** Two classes, because a worker shares one object of each. */
    NettyChannels(Class<? extends Fixture> kind, IoHandlerFactory handlers) {
        this.kind = kind;
        this.handlers = handlers;
    }

    /** The event loop and the server of a worker. */
    abstract static class Fixture implements Closeable {
        private final MultiThreadIoEventLoopGroup loops;
        private final SocketAddress address;

        Fixture(Worker worker, IoHandlerFactory handlers) {
            loops = new MultiThreadIoEventLoopGroup(1, handlers);
            Channel server = new ServerBootstrap().group(loops).channel(RdmaServerStreamChannel.class)
                    .childHandler(new Echo()).bind(worker.anyPort()).syncUninterruptibly().channel();
            address = server.localAddress();
        }

        @Override
        public void close() {
            loops.shutdownGracefully(0, 1, TimeUnit.MINUTES).syncUninterruptibly();
        }
    }

    /** On event loops that poll. */
    static final class Polling extends Fixture {
        Polling(Worker worker, IoHandlerFactory handlers) {
            super(worker, handlers);
        }
    }

    /** On event loops of epoll. */
    static final class Epoll extends Fixture {
        Epoll(Worker worker, IoHandlerFactory handlers) {
            super(worker, handlers);
        }
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /** Hands over what arrives. */
    private static final class Collector extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
        private ByteBuffer rest = ByteBuffer.allocate(0);

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf data = (ByteBuf) message;
            byte[] bytes = new byte[data.readableBytes()];
            data.readBytes(bytes);
            data.release();
            arrived.add(bytes);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            arrived.add(END);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }

        int read(Worker worker, ByteBuffer target) throws InterruptedException {
            if (!rest.hasRemaining()) {
                byte[] next = arrived.poll(worker.timeout().toMillis(), TimeUnit.MILLISECONDS);
                rest = ByteBuffer.wrap(next == null ? END : next);
            }
            int length = Math.min(rest.remaining(), target.remaining());
            target.put(target.position(), rest, rest.position(), length);
            target.position(target.position() + length);
            rest.position(rest.position() + length);
            return length;
        }
    }

    private <T extends Fixture> T fixture(Worker worker, Class<T> type) throws Exception {
        return worker.shared(type, () -> type.cast(type == Epoll.class ? new Epoll(worker, handlers)
                : new Polling(worker, handlers)));
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        Fixture fixture = fixture(worker, kind);
        Collector collector = new Collector();
        Channel channel = new Bootstrap().group(fixture.loops).channel(RdmaStreamChannel.class).handler(collector)
                .connect(fixture.address).sync().channel();
        try {
            worker.counters().countConnection();
            int count = 1 + random.nextInt(MAX);
            for (int i = 0; i < count; i++) {
                Echoed.exchange(worker, random.nextLong(), Payload.HEADER + random.nextInt(LONGEST), source -> {
                    int length = source.remaining();
                    channel.writeAndFlush(Unpooled.copiedBuffer(source));
                    source.position(source.limit());
                    return length;
                }, target -> collector.read(worker, target));
            }
        } finally {
            channel.close().sync();
        }
    }
}
