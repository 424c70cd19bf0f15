// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.core.RejectedException;
import io.rdmacm.netty.testing.LoopThread;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How binding and connecting fail, and how a connect that takes too long is given up. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class ConnectDeviceTest {
    private static final long SECONDS = 240;

    private interface Action {
        void run(EventLoopGroup group) throws Exception;
    }

    private static void with(Loops loops, Action action) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            action.run(group);
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    private static Bootstrap client(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
    }

    private static Channel server(EventLoopGroup group, InetSocketAddress address) throws Exception {
        return Loops.server(group, child -> { }).bind(address).sync().channel();
    }

    @ParameterizedTest
    @EnumSource
    void theWildcardIsEveryAddressOfThisHost(Loops loops) throws Exception {
        RdmaTestDevice.assumeNotIwarp("its IPv6 wildcard takes no IPv4");
        Optional<Inet6Address> six = RdmaTestDevice.get().ipv6();
        Assumptions.assumeTrue(six.isPresent(), "the device has no IPv6 address");
        with(loops, group -> {
            Channel server = server(group, new InetSocketAddress("0.0.0.0", 0));
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            for (InetAddress address : List.of(RdmaTestDevice.get().ipv4(), six.get(),
                    InetAddress.ofLiteral("0.0.0.0"), InetAddress.ofLiteral("::"))) {
                client(group).connect(new InetSocketAddress(address, port)).sync().channel().close().sync();
            }
            server.close().sync();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aClientOfAnyAddressConnectsToBothFamilies(Loops loops) throws Exception {
        Optional<Inet6Address> six = RdmaTestDevice.get().ipv6();
        Assumptions.assumeTrue(six.isPresent(), "the device has no IPv6 address");
        with(loops, group -> {
            for (InetAddress address : List.of(RdmaTestDevice.get().ipv4(), six.get())) {
                Channel server = server(group, new InetSocketAddress(address, 0));
                for (String any : List.of("0.0.0.0", "::")) {
                    Channel client = client(group).connect(server.localAddress(), new InetSocketAddress(any, 0)).sync()
                            .channel();
                    assertThat(((InetSocketAddress) client.localAddress()).getAddress()).isEqualTo(address);
                    client.close().sync();
                }
                server.close().sync();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void nobodyListens(Loops loops) throws Exception {
        with(loops, group -> {
            Channel server = server(group, Loops.anyPort());
            InetSocketAddress free = (InetSocketAddress) server.localAddress();
            server.close().sync();
            // The server closes in the background.
            ChannelFuture connect = client(group).connect(free).await();
            while (connect.isSuccess()) {
                connect.channel().close().sync();
                connect = client(group).connect(free).await();
            }

            assertThat(connect.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("refused")
                    .hasRootCauseInstanceOf(RejectedException.class);
            assertThat(connect.channel().closeFuture().await(SECONDS, TimeUnit.SECONDS)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void noAnswerInTime(Loops loops) throws Exception {
        with(loops, group -> {
            ChannelFuture connect = client(group).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 10)
                    .connect(Loops.silent());

            assertThat(connect.await().cause()).isInstanceOf(ConnectTimeoutException.class);
            assertThat(connect.channel().closeFuture().await(SECONDS, TimeUnit.SECONDS)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void cancelled(Loops loops) throws Exception {
        with(loops, group -> {
            ChannelFuture connect = client(group).connect(Loops.silent());

            assertThat(connect.cancel(true)).isTrue();
            assertThat(connect.channel().closeFuture().await(SECONDS, TimeUnit.SECONDS)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void connectedTwice(Loops loops) throws Exception {
        with(loops, group -> {
            Channel server = server(group, Loops.anyPort());
            Channel client = client(group).connect(server.localAddress()).sync().channel();

            assertThat(client.connect(server.localAddress()).await().cause())
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThat(client.isActive()).isTrue();
            client.close().sync();
            server.close().sync();
        });
    }

    @ParameterizedTest
    @EnumSource
    void portInUse(Loops loops) throws Exception {
        with(loops, group -> {
            Channel server = server(group, Loops.anyPort());
            ChannelFuture second = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(server.localAddress()).await();

            assertThat(second.cause()).isInstanceOf(BindException.class);
            server.close().sync();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aPortIsFreeWhenItsServerIsClosed(Loops loops) throws Exception {
        InetSocketAddress[] port = {Loops.anyPort()};
        for (int i = 0; i < 5; i++) {
            with(loops, group -> {
                for (int j = 0; j < 5; j++) {
                    Channel server = server(group, port[0]);
                    port[0] = (InetSocketAddress) server.localAddress();
                    server.close().sync();
                }
                // closed by the end of its event loop
                var unused = server(group, port[0]);
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void noRdmaThere(Loops loops) throws Exception {
        with(loops, group -> assertThat(client(group).connect("127.0.0.1", 4).await().cause())
                .isInstanceOfAny(ConnectException.class, NoRouteToHostException.class));
    }

    @ParameterizedTest
    @EnumSource
    void whatWasNeverActiveIsNotToldToBeInactive(Loops loops) throws Exception {
        with(loops, group -> {
            Channel server = server(group, Loops.anyPort());
            InetSocketAddress free = (InetSocketAddress) server.localAddress();
            server.close().sync();
            Recorder refused = new Recorder();
            ChannelFuture connect = client(group).handler(refused).connect(free).await();
            connect.channel().closeFuture().sync();
            Recorder closed = new Recorder();
            ChannelFuture closing = client(group).handler(closed).connect(Loops.silent());
            closing.channel().close().sync();
            group.submit(() -> { }).sync();

            assertThat(refused.events()).isEmpty();
            assertThat(closed.events()).isEmpty();
            assertThat(closing.await().cause()).isInstanceOf(ClosedChannelException.class);
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "RDMA"})
    void channelsThatAreRegisteredOnlyLetTheLoopSleep(Loops loops) throws Exception {
        with(loops, group -> {
            Channel server = new RdmaServerStreamChannel();
            Channel client = new RdmaStreamChannel();
            group.register(server).sync();
            group.register(client).sync();
            assertThat(LoopThread.busy(server.eventLoop())).isLessThan(0.5);
            server.close().sync();
            client.close().sync();
        });
    }
}
