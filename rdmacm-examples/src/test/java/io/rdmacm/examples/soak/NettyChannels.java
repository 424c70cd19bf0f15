// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/** Channels of Netty, on event loops of one of both kinds, with TLS or without. */
final class NettyChannels implements Layer {
    private static final byte[] END = {};
    private static final int LINGER = 60;

    private final String name;
    private final IoHandlerFactory handlers;
    private final boolean tls;

    NettyChannels(String name, IoHandlerFactory handlers, boolean tls) {
        this.name = name;
        this.handlers = handlers;
        this.tls = tls;
    }

    /** A certificate that clients trust. */
    private static final class Tls {
        private static final String PASSWORD = "password";

        static final SslContext SERVER;
        static final SslContext CLIENT;

        static {
            try {
                KeyStore keys = keys();
                KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                own.init(keys, PASSWORD.toCharArray());
                TrustManagerFactory trusted = TrustManagerFactory.getInstance(
                        TrustManagerFactory.getDefaultAlgorithm());
                trusted.init(keys);
                SERVER = SslContextBuilder.forServer(own).sslProvider(SslProvider.JDK).build();
                CLIENT = SslContextBuilder.forClient().trustManager(trusted).sslProvider(SslProvider.JDK)
                        .endpointIdentificationAlgorithm(null).build();
            } catch (GeneralSecurityException | IOException | InterruptedException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private static KeyStore keys() throws GeneralSecurityException, IOException, InterruptedException {
            Path folder = Files.createTempDirectory("soak");
            Path file = folder.resolve("keys");
            try {
                new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                        "-genkeypair", "-keyalg", "EC", "-dname", "CN=soak", "-keystore", file.toString(),
                        "-storepass", PASSWORD).redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
                return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
            } finally {
                Files.deleteIfExists(file);
                Files.delete(folder);
            }
        }
    }

    /** An event loop whose buffers must all be released when it has ended. */
    static final class Loop implements Closeable {
        private final MultiThreadIoEventLoopGroup group;
        private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(true);

        Loop(IoHandlerFactory handlers) {
            group = new MultiThreadIoEventLoopGroup(1, handlers);
        }

        UnpooledByteBufAllocator buffers() {
            return buffers;
        }

        @Override
        public void close() throws IOException {
            group.shutdownGracefully(0, LINGER, TimeUnit.SECONDS).awaitUninterruptibly();
            long left = buffers.metric().usedDirectMemory() + buffers.metric().usedHeapMemory();
            if (left > 0) {
                throw new IOException(left + " bytes of Netty's buffers were not released");
            }
        }
    }

    private record Listening(Loop loop, InetSocketAddress address) implements Server {
        @Override
        public void close() throws IOException {
            loop.close();
        }
    }

    @Override
    public Server serve(Worker worker) {
        SslContext context = tls ? Tls.SERVER : null;
        Loop loop = new Loop(handlers);
        Channel server = new ServerBootstrap().group(loop.group).channel(RdmaServerStreamChannel.class)
                .childOption(ChannelOption.ALLOCATOR, loop.buffers)
                .childHandler(initializer(context, () -> new Echo(worker)))
                .bind(worker.anyPort()).syncUninterruptibly().channel();
        return new Listening(loop, (InetSocketAddress) server.localAddress());
    }

    private static ChannelInitializer<Channel> initializer(SslContext context, Supplier<ChannelHandler> last) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (context != null) {
                    channel.pipeline().addLast(context.newHandler(channel.alloc()));
                }
                channel.pipeline().addLast(last.get());
            }
        };
    }

    /** Closes its channel when anything fails, which only the connection may. */
    private abstract static class LastHandler extends ChannelInboundHandlerAdapter {
        final Worker worker;

        LastHandler(Worker worker) {
            this.worker = worker;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!(cause instanceof IOException) && !(cause.getCause() instanceof IOException)) {
                worker.failed(cause);
            }
            context.close();
        }
    }

    private static final class Echo extends LastHandler {
        Echo(Worker worker) {
            super(worker);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** Hands over what arrives. */
    private final class NettyClient extends LastHandler implements Client {
        private final Loop loop;
        private final boolean endsLoop;
        private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
        private ByteBuffer rest = ByteBuffer.allocate(0);
        // Both are guarded by this object.
        private Channel channel;
        private boolean closed;

        // Made here, because it may take long the first time.
        private final SslContext context = tls ? Tls.CLIENT : null;

        NettyClient(Worker worker, boolean endsLoop) throws Exception {
            super(worker);
            this.endsLoop = endsLoop;
            loop = endsLoop ? new Loop(handlers) : worker.shared(handlers, () -> new Loop(handlers));
        }

        private synchronized ChannelFuture begin(InetSocketAddress server) throws IOException {
            if (closed) {
                throw new ClosedChannelException();
            }
            ChannelFuture connecting = new Bootstrap().group(loop.group).channel(RdmaStreamChannel.class)
                    .option(ChannelOption.ALLOCATOR, loop.buffers).handler(initializer(context, () -> this))
                    .connect(server);
            channel = connecting.channel();
            return connecting;
        }

        @Override
        public void connect(InetSocketAddress server) throws Exception {
            begin(server).sync();
            if (tls) {
                SslHandler handler = channel.pipeline().get(SslHandler.class);
                if (handler != null) {
                    handler.handshakeFuture().sync();
                }
            }
        }

        @Override
        public void exchange(long number, int length) throws Exception {
            Echoed.exchange(number, length, source -> {
                int part = source.remaining();
                channel.writeAndFlush(channel.alloc().buffer(part).writeBytes(source));
                return part;
            }, this::read);
        }

        @Override
        public void end() throws Exception {
            if (!tls) {
                ((RdmaStreamChannel) channel).shutdownOutput().sync();
                LossException.unless(take() == END, "there is data after the end");
            }
        }

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

        private byte[] take() throws InterruptedException, LossException {
            byte[] next = arrived.poll(worker.timeout().toMillis(), TimeUnit.MILLISECONDS);
            LossException.unless(next != null, "neither data nor an end arrives");
            return next;
        }

        private int read(ByteBuffer target) throws InterruptedException, LossException {
            if (!rest.hasRemaining()) {
                rest = ByteBuffer.wrap(take());
            }
            int length = Math.min(rest.remaining(), target.remaining());
            target.put(target.position(), rest, rest.position(), length);
            target.position(target.position() + length);
            rest.position(rest.position() + length);
            return length;
        }

        @Override
        public void close() throws IOException {
            synchronized (this) {
                closed = true;
            }
            if (endsLoop) {
                loop.close();
            }
            if (channel != null) {
                ChannelFuture ended = endsLoop ? channel.closeFuture() : channel.close();
                if (!ended.awaitUninterruptibly(worker.timeout().toMillis())) {
                    throw new IOException(channel + " is not closed");
                }
            }
        }
    }

    @Override
    public Client client(Worker worker, RandomGenerator random) throws Exception {
        return new NettyClient(worker, random.nextInt(4) == 0);
    }

    @Override
    public List<Class<? extends Exception>> closed() {
        // the latter two by Netty, for a loop that has ended
        return List.of(IOException.class, RejectedExecutionException.class, IllegalStateException.class);
    }

    @Override
    public List<Class<? extends Exception>> ended() {
        return List.of(IOException.class);
    }

    @Override
    public String toString() {
        return name;
    }
}
