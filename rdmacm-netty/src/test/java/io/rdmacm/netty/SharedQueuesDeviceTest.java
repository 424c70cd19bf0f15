// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The channels of an event loop share its queues; what becomes of one of them does not concern the others. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class SharedQueuesDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final Duration LONG = Duration.ofSeconds(Recorder.SECONDS);
    private static final int LENGTH = 100;

    private static Channel echo(EventLoopGroup group) throws InterruptedException {
        return Loops.server(group, channel -> channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message);
            }
        })).bind(Loops.anyPort()).sync().channel();
    }

    private static Channel connect(EventLoopGroup group, Recorder recorder, Channel server)
            throws InterruptedException {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(recorder)
                .connect(server.localAddress()).sync().channel();
    }

    private static void goesAndComesBack(Channel channel, Recorder recorder) throws InterruptedException {
        int before = recorder.received().length;
        byte[] data = ChannelPair.data(before, LENGTH);
        channel.writeAndFlush(Unpooled.wrappedBuffer(data)).sync();
        assertThat(recorder.received(before + LENGTH)).endsWith(data);
    }

    @ParameterizedTest
    @EnumSource
    void whoConnectsDoesNotWaitForAServerThatDoesNotRead(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = echo(group);
            server.config().setAutoRead(false);
            // The read that was pending accepts one more.
            List<Recorder> recorders = List.of(new Recorder(), new Recorder(), new Recorder());
            List<Channel> clients = new ArrayList<>();
            for (Recorder recorder : recorders) {
                clients.add(connect(group, recorder, server));
                assertThat(recorder.channel()).isSameAs(clients.getLast());
            }
            server.read();
            goesAndComesBack(clients.get(0), recorders.get(0));
            server.read();
            goesAndComesBack(clients.get(1), recorders.get(1));
            server.close().sync();
            // One that nobody has taken is closed with the server.
            assertThat(clients.get(2).closeFuture().await(Recorder.SECONDS, TimeUnit.SECONDS)).isTrue();
            clients.get(0).close().sync();
            clients.get(1).close().sync();
        } finally {
            ChannelPair.end(group, 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void moreChannelsNeedNeitherMoreQueuesNorMoreFiles(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = echo(group);
            List<Recorder> recorders = new ArrayList<>();
            List<Channel> clients = new ArrayList<>();
            recorders.add(new Recorder());
            clients.add(connect(group, recorders.getFirst(), server));
            goesAndComesBack(clients.getFirst(), recorders.getFirst());
            ResourceCounts one = ResourceCounts.settled(LONG);
            for (int i = 1; i < 4; i++) {
                recorders.add(new Recorder());
                clients.add(connect(group, recorders.get(i), server));
            }
            for (int i = 0; i < clients.size(); i++) {
                goesAndComesBack(clients.get(i), recorders.get(i));
            }

            ResourceCounts four = ResourceCounts.now();
            assertThat(four.files()).isEqualTo(one.files());
            RdmaTestDevice.assumeNotIwarp("with two requests for each message, a few streams need a second queue");
            assertThat(four.kernel()).allSatisfy((kind, count) -> {
                if (kind.startsWith("cq") || kind.startsWith("pd")) {
                    assertThat(count).as(kind).isEqualTo(one.kernel().get(kind));
                }
            });

            clients.get(1).config().setOption(ChannelOption.SO_LINGER, 0);
            clients.get(1).close().sync();
            clients.get(2).close().sync();
            goesAndComesBack(clients.get(0), recorders.get(0));
            goesAndComesBack(clients.get(3), recorders.get(3));
            clients.get(0).close().sync();
            clients.get(3).close().sync();
            server.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPeerThatGivesUpBeforeItsChannelIsRegistered(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
            Channel server = new Bootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) {
                            children.add((Channel) message);
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            Channel child;
            try (RdmaStream impatient = RdmaStream.open()) {
                impatient.startConnect((InetSocketAddress) server.localAddress());
                child = children.poll(Recorder.SECONDS, TimeUnit.SECONDS);
            }
            assertThat(child).isNotNull();
            assertThat(child.isActive()).isFalse();
            assertThat(child.remoteAddress()).isNotNull();
            Recorder recorder = new Recorder();
            child.pipeline().addLast(recorder);
            child.config().setOption(ChannelOption.AUTO_READ, false);
            group.register(child);
            assertThat(child.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(recorder.cause()).isNull();

            // One that nobody registers, and one that is patient.
            try (RdmaStream stream = RdmaStream.open()) {
                stream.startConnect((InetSocketAddress) server.localAddress());
                Channel unwanted = children.poll(Recorder.SECONDS, TimeUnit.SECONDS);
                assertThat(unwanted).isNotNull();
                unwanted.unsafe().closeForcibly();
            }
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(new Recorder())
                    .register().sync().channel();
            var connected = client.connect(server.localAddress());
            Channel accepted = children.poll(Recorder.SECONDS, TimeUnit.SECONDS);
            assertThat(accepted).isNotNull();
            Recorder atServer = new Recorder();
            accepted.pipeline().addLast(atServer);
            group.register(accepted).sync();
            connected.sync();
            assertThat(atServer.channel()).isSameAs(accepted);
            client.close().sync();
            accepted.closeFuture().sync();
            server.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    /** Not even by closing its channel. */
    @ParameterizedTest
    @EnumSource
    void aRequestThatNobodyAnswersEndsInTime(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = new Bootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .option(RdmaChannelOption.STREAM_SETTINGS, StreamSettings.builder()
                            .handshakeTimeout(Duration.ofMillis(100)).build())
                    .option(ChannelOption.SO_BACKLOG, 1)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) {
                            // forgotten
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            for (int i = 0; i < 3; i++) {
                var connecting = new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(new Recorder())
                        .connect(server.localAddress());
                assertThat(connecting.await().cause()).hasRootCauseInstanceOf(RejectedException.class);
            }
            server.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenBeforeTheHandshakeIsCompleteArrives(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            byte[] data = ChannelPair.data(7, LENGTH);
            Channel server = Loops.server(group, channel -> channel.writeAndFlush(Unpooled.wrappedBuffer(data)))
                    .bind(Loops.anyPort()).sync().channel();
            Recorder recorder = new Recorder();
            Channel client = connect(group, recorder, server);
            assertThat(recorder.received(LENGTH)).isEqualTo(data);
            client.close().sync();
            server.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    /** Its queues stay those of the event loop where it was connected, which may end. */
    @ParameterizedTest
    @EnumSource
    void aChannelMovesToAnotherEventLoop(Loops loops) throws Exception {
        EventLoopGroup first = loops.group();
        EventLoopGroup second = loops.group();
        try {
            Channel server = echo(second);
            Recorder recorder = new Recorder();
            Recorder stays = new Recorder();
            Channel moving = connect(first, recorder, server);
            Channel staying = connect(first, stays, server);
            goesAndComesBack(moving, recorder);
            moving.deregister().sync();
            second.register(moving).sync();
            goesAndComesBack(moving, recorder);
            goesAndComesBack(staying, stays);
            goesAndComesBack(moving, recorder);
            staying.close().sync();
            ChannelPair.end(first);
            goesAndComesBack(moving, recorder);
            moving.close().sync();
            server.close().sync();
        } finally {
            ChannelPair.end(first);
            ChannelPair.end(second);
        }
    }
}
