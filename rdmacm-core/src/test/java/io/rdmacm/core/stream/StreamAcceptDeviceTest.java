// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which streams a server accepts, and how a connect ends that nobody answers. */
@RequiresRdma
class StreamAcceptDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    private static InetSocketAddress any() {
        return new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
    }

    @Test
    void moreThanTheBacklogWait() throws Exception {
        int count = 12;
        List<Background<RdmaStream>> clients = new ArrayList<>();
        try (RdmaStreamServer server = RdmaStreamServer.listen(any(), 2, StreamSettings.defaults())) {
            for (int i = 0; i < count; i++) {
                clients.add(Background.call(() -> RdmaStream.connect(server.localAddress(), Streams.TIMEOUT)));
            }
            List<RdmaStream> streams = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                streams.add(server.accept(Streams.TIMEOUT));
            }
            for (Background<RdmaStream> client : clients) {
                streams.add(client.result());
            }
            for (RdmaStream stream : streams) {
                stream.close();
            }
        }
    }

    /** Their requests are there, but cannot be accepted any more. */
    @Test
    void clientsThatGiveUpAreNoFailureOfTheServer() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the answer to a connect is not confirmed");
        try (RdmaStreamServer server = RdmaStreamServer.listen(any(), 128, StreamSettings.defaults())) {
            for (int i = 0; i < 60; i++) {
                try (EventChannel channel = EventChannel.open();
                        End client = new End(Loopback.resolved(channel, server.localAddress()))) {
                    client.id.connect(ConnectionParameters.builder().privateData(new ConnectData(
                            ConnectData.isBigEndianHere(), 1, 0, client.region.remoteAddress(), 2,
                            client.region.remoteKey(), client.region.remoteAddress(), 64,
                            client.region.remoteKey()).encode()).build());
                }
            }
            try (RdmaStream client = RdmaStream.connect(server.localAddress(), Streams.TIMEOUT);
                    RdmaStream accepted = server.accept(Streams.TIMEOUT)) {
                assertThat(accepted.peerAddress()).isEqualTo(client.localAddress());
            }
        }
    }

    /** Platform threads connect and accept although no virtual thread can run. */
    @Test
    void busyCarriersOfVirtualThreadsHoldUpNobody() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < carriers; i++) {
            threads.add(Thread.startVirtualThread(() -> {
                busy.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
            }));
        }
        busy.await();
        try (RdmaStreamServer server = RdmaStreamServer.listen(any());
                RdmaStream client = RdmaStream.connect(server.localAddress(), Duration.ofSeconds(60));
                RdmaStream accepted = server.accept(Duration.ofSeconds(60))) {
            assertThat(accepted.peerAddress()).isEqualTo(client.localAddress());
        } finally {
            over.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @Test
    void aServerThatNeverAnswersIsGivenUp() throws Exception {
        StreamSettings impatient = StreamSettings.builder().handshakeTimeout(Duration.ofMillis(300)).build();
        try (Loopback silent = new Loopback(); RdmaStream stream = RdmaStream.open(impatient)) {
            stream.startConnect(silent.address());
            CmId request = silent.request();
            assertThatThrownBy(() -> stream.finishConnect(Streams.TIMEOUT)).isInstanceOf(RdmaTimeoutException.class)
                    .hasMessageContaining("handshake");
            request.close();
        }
    }

    @Test
    void aStreamThatIsClosedWhileItConnectsIsGone() throws Exception {
        try (Loopback silent = new Loopback()) {
            RdmaStream stream = RdmaStream.open();
            stream.startConnect(silent.address());
            stream.close();
            assertThat(stream.isOpen()).isFalse();
        }
    }

    @Test
    void anAddressWithoutADeviceIsRefusedAtOnce() throws Exception {
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        assertThatThrownBy(() -> RdmaStreamServer.listen(loopback)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("ENODEV");
        try (RdmaStream stream = RdmaStream.open()) {
            assertThatThrownBy(() -> stream.bind(loopback)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("ENODEV");
        }
    }

    @Test
    void theWildcardIsEveryAddressOfThisHost() throws Exception {
        RdmaTestDevice.assumeNotIwarp("its IPv6 wildcard takes no IPv4");
        InetAddress six = NioProvider.RDMA.ipv6Address();
        try (RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress("0.0.0.0", 0))) {
            for (InetAddress address : List.of(RdmaTestDevice.get().ipv4(), six, InetAddress.ofLiteral("0.0.0.0"),
                    InetAddress.ofLiteral("::"))) {
                try (RdmaStream client = RdmaStream.connect(new InetSocketAddress(address,
                        server.localAddress().getPort()), Streams.TIMEOUT);
                        RdmaStream accepted = server.accept(Streams.TIMEOUT)) {
                    assertThat(accepted.peerAddress()).isEqualTo(client.localAddress());
                }
            }
        }
    }

    /** Streams share one thread, which ends with the last of them. */
    @Test
    void aStreamHasNoThreadOfItsOwn() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair first = streams.connect();
                Streams.Pair second = streams.connect()) {
            assertThat(first.client()).isNotSameAs(second.client());
            assertThat(Thread.getAllStackTraces().keySet()).filteredOn(StreamAcceptDeviceTest::takesEvents).hasSize(1);
        }
        assertThat(Thread.getAllStackTraces().keySet()).noneMatch(StreamAcceptDeviceTest::takesEvents);
    }

    private static boolean takesEvents(Thread thread) {
        return thread.getName().startsWith("rdmacm-events-");
    }
}
