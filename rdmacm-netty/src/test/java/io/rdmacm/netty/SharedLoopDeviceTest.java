// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Channels over TCP and over RDMA in one event loop of Netty's. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class SharedLoopDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final int LENGTH = 1 << 20;
    private static final int WARM_UP = 1000;
    // Some turns take that many messages; the time that Netty gives to tasks, a second, is enough for more.
    private static final int MOST_MEANWHILE = 150;

    private enum Transport {
        TCP(EpollServerSocketChannel.class, EpollSocketChannel.class) {
            @Override
            InetSocketAddress address() {
                return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            }
        },
        RDMA(RdmaServerStreamChannel.class, RdmaStreamChannel.class) {
            @Override
            InetSocketAddress address() {
                return Loops.anyPort();
            }
        };

        private final Class<? extends ServerChannel> server;
        private final Class<? extends Channel> client;

        Transport(Class<? extends ServerChannel> server, Class<? extends Channel> client) {
            this.server = server;
            this.client = client;
        }

        abstract InetSocketAddress address();

        Transport other() {
            return this == TCP ? RDMA : TCP;
        }
    }

    /** Passes on what it reads, one read after the other, and the end. */
    private static final class Relay extends ChannelInboundHandlerAdapter {
        private final Channel to;

        Relay(Channel to) {
            this.to = to;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            to.writeAndFlush(message).addListener((ChannelFuture written) -> context.read());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> to.close());
        }
    }

    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    private Channel serve(EventLoopGroup group, Transport transport, ChannelInboundHandlerAdapter handler)
            throws Exception {
        return new ServerBootstrap().group(group).channel(transport.server)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        channel.pipeline().addLast(handler);
                    }
                }).bind(transport.address()).sync().channel();
    }

    /** Connects each channel that it gets to a server, by the other transport, in the same event loop. */
    private ChannelInboundHandlerAdapter proxy(Transport behind, Channel server) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelActive(ChannelHandlerContext context) {
                Channel front = context.channel();
                front.config().setAutoRead(false);
                new Bootstrap().group(front.eventLoop()).channel(behind.client).option(ChannelOption.AUTO_READ, false)
                        .handler(new Relay(front)).connect(server.localAddress())
                        .addListener((ChannelFuture connected) -> {
                            channels.add(connected.channel());
                            front.pipeline().addLast(new Relay(connected.channel()));
                            connected.channel().read();
                            front.read();
                        });
            }
        };
    }

    private static ChannelInboundHandlerAdapter echo() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message);
            }
        };
    }

    /** Sends back what it receives, and counts it; the first message makes a channel over TCP readable as well. */
    private static final class BusyEcho extends ChannelInboundHandlerAdapter {
        private final Channel tcp;
        private final AtomicInteger messages = new AtomicInteger();

        BusyEcho(Channel tcp) {
            this.tcp = tcp;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (messages.getAndIncrement() == WARM_UP) {
                tcp.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
            }
            context.writeAndFlush(message, context.voidPromise());
        }
    }

    @Test
    void aStreamThatIsAlwaysBusyLeavesTurnsToOtherChannels() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            CompletableFuture<Integer> messages = new CompletableFuture<>();
            AtomicReference<BusyEcho> busy = new AtomicReference<>();
            Channel tcpServer = serve(group, Transport.TCP, new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    ReferenceCountUtil.release(message);
                    messages.complete(busy.get().messages.get());
                }
            });
            Channel tcp = new Bootstrap().group(group).channel(EpollSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(tcpServer.localAddress()).sync().channel();
            busy.set(new BusyEcho(tcp));
            Channel server = serve(group, Transport.RDMA, echo());
            // With so long a time to poll, the streams find something to do in each turn.
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(busy.get())
                    .option(RdmaChannelOption.SPIN, Duration.ofMinutes(1)).connect(server.localAddress()).sync()
                    .channel();
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));

            int meanwhile = messages.get(4, TimeUnit.MINUTES) - WARM_UP;
            for (Channel channel : List.of(client, server, tcp, tcpServer)) {
                channel.close().sync();
            }
            for (Channel channel : channels) {
                channel.closeFuture().sync();
            }
            assertThat(meanwhile).isLessThan(MOST_MEANWHILE);
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aProxyInFrontOfTheOther(Transport front) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            Channel behind = serve(group, front.other(), echo());
            Channel proxy = serve(group, front, proxy(front.other(), behind));
            byte[] data = ChannelPair.data(1, LENGTH);
            Recorder recorder = new Recorder();
            Channel client = new Bootstrap().group(group).channel(front.client).handler(recorder)
                    .connect(proxy.localAddress()).sync().channel();
            client.writeAndFlush(Unpooled.wrappedBuffer(data));

            assertThat(recorder.received(LENGTH)).isEqualTo(data);
            // the two of the proxy, and the one of the server behind it
            assertThat(channels).hasSize(3).allSatisfy(
                    channel -> assertThat(channel.eventLoop()).isSameAs(client.eventLoop()));
            assertThat(channels).hasAtLeastOneElementOfType(RdmaStreamChannel.class)
                    .hasAtLeastOneElementOfType(EpollSocketChannel.class);
            client.close().sync();
            for (Channel channel : channels) {
                channel.closeFuture().sync();
            }
            behind.close().sync();
            proxy.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }
}
