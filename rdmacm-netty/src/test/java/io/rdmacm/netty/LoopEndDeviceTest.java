// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.Promise;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The event loops end while channels are open: nothing of these is left. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class LoopEndDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final int CHANNELS = 10;
    private static final int LENGTH = 1 << 19;

    @ParameterizedTest
    @EnumSource
    void channelsAreClosedAndWhatTheyDidNotWriteFails(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        List<Channel> channels = new ArrayList<>();
        List<ChannelFuture> writes = new ArrayList<>();
        RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false).childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Recorder());
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            channels.add(server);
            for (int i = 0; i < CHANNELS; i++) {
                Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                        .option(ChannelOption.ALLOCATOR, allocator).handler(new Recorder())
                        .connect(server.localAddress()).sync().channel();
                channels.add(client);
                writes.add(client.writeAndFlush(i % 2 == 0 ? Unpooled.wrappedBuffer(new byte[LENGTH])
                        : client.alloc().directBuffer(LENGTH).writeZero(LENGTH)));
            }
            if (!RdmaTestDevice.get().isIwarp()) {
                // One that is still connecting.
                channels.add(new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(new Recorder())
                        .connect(Loops.silent()).channel());
            }
        } finally {
            ChannelPair.end(group);
        }
        for (Channel channel : channels) {
            assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(channel.isOpen()).isFalse();
        }
        for (ChannelFuture write : writes) {
            assertThat(write.await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(write.isSuccess()).isFalse();
        }
    }

    /** Netty then ends the loop without having closed its channels, whose handlers are to be told nevertheless. */
    @ParameterizedTest
    @EnumSource
    void aLoopThatIsAwakeIsToldToEndAtOnceDuringConnects(Loops loops) throws Exception {
        EventLoopGroup servers = loops.group();
        EventLoopGroup clients = loops.group();
        List<ChannelFuture> connects = new ArrayList<>();
        try {
            Channel server = new ServerBootstrap().group(servers).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Recorder());
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            Channel connected = connect(clients, server.localAddress()).sync().channel();
            Recorder told = connected.pipeline().get(Recorder.class);
            Channel bound = new Bootstrap().group(clients).channel(RdmaStreamChannel.class).handler(new Recorder())
                    .bind(Loops.anyPort()).sync().channel();
            clients.next().submit(() -> {
                for (int i = 0; i < CHANNELS; i++) {
                    connects.add(connect(clients, i % 2 == 0 ? server.localAddress() : Loops.silent()));
                }
                clients.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                return null;
            }).sync();
            assertThat(clients.terminationFuture().await(Recorder.SECONDS * 1000)).isTrue();

            for (ChannelFuture connect : connects) {
                assertThat(connect.await(Recorder.SECONDS * 1000)).isTrue();
                assertThat(connect.channel().closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
            }
            for (Channel channel : List.of(connected, bound)) {
                assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
            }
            assertThat(told.events()).contains("active", "inactive");
            server.close().sync();
        } finally {
            ChannelPair.end(clients);
            ChannelPair.end(servers);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChannelThatCameBackIsClosedToo(Loops loops) throws Exception {
        withConnection(loops, (clients, connected) -> {
            EventLoop loop = connected.eventLoop();
            Promise<Void> back = loop.newPromise();
            connected.deregister().addListener(gone -> loop.register(connected)
                    .addListener(registered -> back.setSuccess(null)));
            back.sync();
            assertThat(Loops.hooks(loop)).isOne();
            loop.submit(() -> {
                clients.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            }).sync();
            assertThat(clients.terminationFuture().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(connected.isOpen()).isFalse();
        });
    }

    /** Netty asks three times whether the loop ends, and calls no hooks when there were tasks. */
    @ParameterizedTest
    @EnumSource
    void tasksDoNotKeepChannelsFromBeingClosed(Loops loops) throws Exception {
        withConnection(loops, (clients, connected) -> {
            Recorder told = connected.pipeline().get(Recorder.class);
            SingleThreadEventLoop loop = (SingleThreadEventLoop) connected.eventLoop();
            loop.submit(() -> {
                clients.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                changeAfterEachIteration(loop, ((AbstractRdmaChannel) connected).registration());
            }).sync();
            assertThat(clients.terminationFuture().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(connected.isOpen()).isFalse();
            assertThat(told.events()).containsExactly("active", "inactive");
        });
    }

    /** Something done with a connected client. */
    @FunctionalInterface
    private interface Action {
        void run(EventLoopGroup clients, Channel connected) throws Exception;
    }

    private static void withConnection(Loops loops, Action action) throws Exception {
        EventLoopGroup servers = loops.group();
        EventLoopGroup clients = loops.group();
        try {
            Channel server = Loops.server(servers, channel -> channel.pipeline().addLast(new Recorder()))
                    .bind(Loops.anyPort()).sync().channel();
            action.run(clients, connect(clients, server.localAddress()).sync().channel());
        } finally {
            ChannelPair.end(clients);
            ChannelPair.end(servers);
        }
    }

    private static void changeAfterEachIteration(SingleThreadEventLoop loop, LoopRegistration registration) {
        if (loop.isShutdown()) {
            return;
        }
        loop.executeAfterEventLoopIteration(() -> {
            Thread other = Thread.ofPlatform().start(registration::changed);
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            LoopRegistration.executeOrIgnore(loop, () -> changeAfterEachIteration(loop, registration));
        });
    }

    private static ChannelFuture connect(EventLoopGroup group, SocketAddress server) {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(new Recorder()).connect(server);
    }
}
