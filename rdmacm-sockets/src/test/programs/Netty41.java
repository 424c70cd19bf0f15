// SPDX-License-Identifier: Apache-2.0
// Runs with io.netty:netty-handler:4.1.137.Final

import java.io.EOFException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** A Netty 4.1 server and client. */
public final class Netty41 implements Program {
    private final EventLoopGroup group = new NioEventLoopGroup();

    public static void main(String[] arguments) throws Exception {
        Program.run(new Netty41(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                    }
                }).bind(address, 0).sync().channel();
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    @Override
    public Client client(String address, int port) throws Exception {
        Collector collector = new Collector();
        Channel channel = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(collector)
                .connect(address, port).sync().channel();
        return (data, times) -> {
            for (int i = 0; i < times; i++) {
                CompletableFuture<byte[]> answer = collector.expect(data.length);
                channel.writeAndFlush(Unpooled.wrappedBuffer(data)).addListener(written -> {
                    if (!written.isSuccess()) {
                        answer.completeExceptionally(written.cause());
                    }
                });
                Program.check(data, answer.get());
            }
        };
    }

    private static final class Collector extends SimpleChannelInboundHandler<ByteBuf> {
        private ByteBuf bytes = Unpooled.EMPTY_BUFFER;
        private CompletableFuture<byte[]> answer = new CompletableFuture<>();

        /** To be called before what is answered is written. */
        CompletableFuture<byte[]> expect(int size) {
            bytes = Unpooled.buffer(size, size);
            answer = new CompletableFuture<>();
            return answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            bytes.writeBytes(message);
            if (!bytes.isWritable()) {
                answer.complete(bytes.array());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            answer.completeExceptionally(new EOFException());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            answer.completeExceptionally(cause);
        }
    }
}
