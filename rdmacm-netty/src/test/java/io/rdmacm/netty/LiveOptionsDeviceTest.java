// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.LoopThread;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Options that are set while the channel is in use. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class LiveOptionsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private static final Duration LONG = Duration.ofDays(1);
    private static final Duration OFTEN = Duration.ofMillis(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(Recorder.SECONDS);
    private static final int MANY_PACKETS = 500;
    private static final String SPINNING = "io.rdmacm.netty.EpollStreams.spin";

    private static void send(Channel from, Recorder to, int total) throws InterruptedException {
        from.writeAndFlush(ByteBufUtil.writeUtf8(from.alloc(), "!")).sync();
        to.received(total);
    }

    private static void assumeSpins() {
        Assumptions.assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "with one CPU, it polls only once");
    }

    @Test
    void spinIsChangedAtAnyTime() throws Exception {
        assumeSpins();
        try (ChannelPair pair = ChannelPair.connect(Loops.EPOLL)) {
            SocketChannel client = pair.client();
            send(pair.server(), pair.atClient(), 1);
            LoopThread.awaitAsleep(client.eventLoop());

            client.config().setOption(RdmaChannelOption.SPIN, LONG);
            send(pair.server(), pair.atClient(), 2);
            LoopThread.awaitInside(client.eventLoop(), SPINNING);

            client.config().setOption(RdmaChannelOption.SPIN, Duration.ZERO);
            send(pair.server(), pair.atClient(), 3);
            LoopThread.awaitAsleep(client.eventLoop());
        }
    }

    @Test
    void aChannelThatSpinsLetsTasksThrough() throws Exception {
        assumeSpins();
        try (ChannelPair pair = ChannelPair.connect(Loops.EPOLL)) {
            pair.client().config().setOption(RdmaChannelOption.SPIN, LONG);
            send(pair.server(), pair.atClient(), 1);
            LoopThread.awaitInside(pair.client().eventLoop(), SPINNING);

            assertThat(pair.client().close().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(pair.atServer().next()).isEqualTo("inactive");
        }
    }

    @Test
    void theThresholdOfLendingIsChangedAtAnyTime() throws Exception {
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA, server -> { },
                client -> client.option(ChannelOption.ALLOCATOR, new RdmaByteBufAllocator()))) {
            RdmaStreamChannel client = (RdmaStreamChannel) pair.client();
            client.writeAndFlush(client.alloc().directBuffer().writeZero(1000)).sync();
            assertThat(client.stream().lentBytes()).isZero();

            client.config().setOption(RdmaChannelOption.ZERO_COPY_THRESHOLD, 1000);
            client.writeAndFlush(client.alloc().directBuffer().writeZero(1000)).sync();
            assertThat(client.stream().lentBytes()).isEqualTo(1000);

            client.config().setOption(RdmaChannelOption.ZERO_COPY_THRESHOLD, 1001);
            client.writeAndFlush(client.alloc().directBuffer().writeZero(1000)).sync();
            assertThat(client.stream().lentBytes()).isEqualTo(1000);
            pair.atServer().received(3000);
        }
    }

    @SuppressWarnings("unchecked")
    private static void assertRefused(Channel channel, ChannelOption<?> option, Object value) {
        Object before = channel.config().getOption(option);
        assertThatIllegalStateException()
                .isThrownBy(() -> channel.config().setOption((ChannelOption<Object>) option, value))
                .withMessageContaining(option.name()).withMessageContaining("before the channel is bound or connected");
        assertThat((Object) channel.config().getOption(option)).isEqualTo(before);
    }

    @Test
    void theTypeOfServiceIsThatOfTheQueuePair() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the kernel's TCP has it");
        EventLoopGroup group = Loops.RDMA.group();
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            listener.listen(1);
            new Bootstrap().group(group).channel(RdmaStreamChannel.class).option(ChannelOption.IP_TOS, 96)
                    .handler(new Recorder()).connect(listener.localAddress());
            CmId id;
            try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, TIMEOUT)) {
                id = request.id();
            }
            try (id; ProtectionDomain domain = id.context().allocateProtectionDomain();
                    CompletionQueue queue = id.context().createCompletionQueue(1);
                    QueuePair pair = id.createQueuePair(domain,
                            QueuePairInitAttributes.builder().completionQueue(queue).build())) {
                id.accept(ConnectionParameters.defaults());
                assertThat(pair.query().attributes().path().globalRoute().map(GlobalRoute::trafficClass))
                        .contains(96);
            }
        } finally {
            ChannelPair.end(group);
        }
    }

    @Test
    void settingsOfTheStreamAreRefused() throws Exception {
        Map<ChannelOption<?>, Object> values = Map.of(RdmaChannelOption.SEND_QUEUE_SIZE, 17,
                RdmaChannelOption.RECEIVE_QUEUE_SIZE, 18, RdmaChannelOption.INLINE_SIZE, 19,
                RdmaChannelOption.MAP_SLOTS, 20, RdmaChannelOption.ROUTE, new byte[] {1},
                RdmaChannelOption.RETRIES, 6, RdmaChannelOption.HANDSHAKE_TIMEOUT, LONG,
                RdmaChannelOption.STREAM_SETTINGS, StreamSettings.builder().inlineSize(21).build());
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA)) {
            values.forEach((option, value) -> {
                assertRefused(pair.client(), option, value);
                assertRefused(pair.server(), option, value);
            });
            assertThat(pair.client().isActive()).isTrue();
            send(pair.client(), pair.atServer(), 1);
        }
    }

    @Test
    void keepAliveIsSwitchedOnAtAnyTime() throws Exception {
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA)) {
            pair.client().config().setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL, OFTEN);
            pair.client().config().setKeepAlive(true);

            assertThat(pair.client().config().isKeepAlive()).isTrue();
            assertThat(RdmaTestDevice.get().sends(MANY_PACKETS, TIMEOUT)).isTrue();
        }
    }

    @Test
    void keepAliveOfAcceptedChannelsIsSwitchedOn() throws Exception {
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA,
                server -> server.childOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL, OFTEN)
                        .childOption(ChannelOption.SO_KEEPALIVE, true), client -> { })) {
            assertThat(pair.server().config().isKeepAlive()).isTrue();
            assertThat(RdmaTestDevice.get().sends(MANY_PACKETS, TIMEOUT)).isTrue();
        }
    }

    @Test
    void sizesOfBuffersStayAsTheyAre() throws Exception {
        try (ChannelPair pair = ChannelPair.connect(Loops.RDMA, server -> server.option(ChannelOption.SO_RCVBUF, 8192),
                client -> client.option(ChannelOption.SO_SNDBUF, 16_384))) {
            pair.client().config().setSendBufferSize(4096);
            pair.server().config().setReceiveBufferSize(4096);

            assertThat(pair.client().config().getSendBufferSize()).isEqualTo(16_384);
            assertThat(pair.server().config().getReceiveBufferSize()).isEqualTo(8192);
            assertThat(((RdmaStreamChannel) pair.server()).stream().settings().receiveBufferSize()).isEqualTo(8192);
        }
    }
}
