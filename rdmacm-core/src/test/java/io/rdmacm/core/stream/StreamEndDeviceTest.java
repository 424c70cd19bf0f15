// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.PeerProcess;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How streams begin not at all, and how they end. */
@RequiresRdma
class StreamEndDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    private static ByteBuffer one() {
        return ByteBuffer.allocate(1);
    }

    private static RdmaStream end(Streams.Pair pair, boolean client) {
        return client ? pair.client() : pair.server();
    }

    @Test
    void aPeerThatDoesNotConfirmIsGivenUp() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the answer to a connect is not confirmed");
        StreamSettings impatient = StreamSettings.builder().handshakeTimeout(Duration.ofMillis(1)).build();
        try (Streams streams = new Streams(impatient); EventChannel channel = EventChannel.open();
                End silent = new End(Loopback.resolved(channel, streams.server.localAddress()))) {
            long before = ResourceCounts.settled(Streams.TIMEOUT).objects();
            silent.id.connect(hello(silent));
            // It does not take the answer.
            assertThat(Readable.await(channel.fd(), Streams.TIMEOUT)).isTrue();
            assertThat(ResourceCounts.await(counts -> counts.objects() == before, Streams.TIMEOUT).objects())
                    .isEqualTo(before);
        }
    }

    /** The server is stopped: its time for the first peer passes while another request is ahead of its confirmation. */
    @Test
    void aPeerThatHasConfirmedIsNotGivenUpByABusyServer() throws Exception {
        Duration patience = Duration.ofSeconds(4);
        try (PeerProcess server = PeerProcess.start("stream server=" + patience);
                EventChannel channel = EventChannel.open(); EventChannel otherChannel = EventChannel.open()) {
            InetSocketAddress address = new InetSocketAddress(RdmaTestDevice.get().ipv4(),
                    Integer.parseInt(server.line()));
            try (End peer = new End(Loopback.resolved(channel, address));
                    End other = new End(Loopback.resolved(otherChannel, address))) {
                peer.id.connect(hello(peer));
                assertThat(Readable.await(channel.fd(), Streams.TIMEOUT)).isTrue();
                server.pause();
                other.id.connect(hello(other));
                channel.await(peer.id, CmEventType.ESTABLISHED, Streams.TIMEOUT).close();
                // The time of the server passes, which is as long.
                assertThatThrownBy(() -> RdmaStream.connect(address, patience))
                        .isInstanceOf(RdmaTimeoutException.class);
                server.goOn();
                assertThat(server.line()).isEqualTo("accepted");
            }
        }
    }

    private static ConnectionParameters hello(End end) {
        return ConnectionParameters.builder().privateData(new ConnectData(ConnectData.isBigEndianHere(), 1, 0,
                end.region.remoteAddress(), 2, end.region.remoteKey(), end.region.remoteAddress(), 64,
                end.region.remoteKey()).encode()).build();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneDirectionEndsAndTheOtherGoesOn(boolean client) throws Exception {
        byte[] data = Streams.data(1, 100_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            RdmaStream first = end(pair, client);
            RdmaStream second = end(pair, !client);
            first.write(ByteBuffer.wrap(data, 0, 1000), Streams.TIMEOUT);
            first.shutdownOutput();
            first.shutdownOutput();
            assertThatThrownBy(() -> first.write(one())).isInstanceOf(IllegalStateException.class);
            assertThat(Streams.read(second, 1000)).hasSize(1000);
            assertThat(second.read(one(), Streams.TIMEOUT)).isEqualTo(-1);
            assertThat(second.read(one())).isEqualTo(-1);
            assertThat(second.poll() & RdmaStream.ENDED).isZero();
            try (Background<Void> writing = Background.run(() -> {
                second.write(ByteBuffer.wrap(data), Streams.TIMEOUT);
                second.shutdownOutput();
            })) {
                assertThat(Streams.read(first, data.length)).isEqualTo(data);
                assertThat(first.read(one(), Streams.TIMEOUT)).isEqualTo(-1);
                writing.result();
            }
            assertThat(first.await(RdmaStream.ENDED, Streams.TIMEOUT)).isEqualTo(RdmaStream.ENDED);
        }
    }

    @Test
    void whatArrivesAfterTheInputWasShutDownIsDropped() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Integer> reading = Background.call(() -> pair.server().read(one(), Streams.TIMEOUT))) {
            reading.awaitAsleep();
            pair.server().shutdownInput();
            assertThat(reading.result()).isEqualTo(-1);
            try (Background<Void> writing = Background.run(
                    () -> pair.client().write(ByteBuffer.allocate(1_000_000), Streams.TIMEOUT))) {
                while (!writing.isDone()) {
                    pair.server().poll();
                    Thread.yield();
                }
                writing.result();
            }
            pair.server().shutdownOutput();
            assertThat(pair.client().await(RdmaStream.ENDED, Streams.TIMEOUT)).isEqualTo(RdmaStream.ENDED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCloseDeliversEverything(boolean client) throws Exception {
        byte[] data = Streams.data(2, 60_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            RdmaStream first = end(pair, client);
            RdmaStream second = end(pair, !client);
            first.write(ByteBuffer.wrap(data), Streams.TIMEOUT);
            first.close();
            first.close();
            assertThat(first.isOpen()).isFalse();
            assertThat(first.poll() & RdmaStream.ENDED).isNotZero();
            assertThatThrownBy(() -> first.read(one())).isInstanceOf(RdmaClosedException.class);
            assertThatThrownBy(() -> first.write(one())).isInstanceOf(RdmaClosedException.class);
            assertThatThrownBy(first::fd).isInstanceOf(RdmaClosedException.class);
            assertThat(Streams.read(second, data.length)).isEqualTo(data);
            assertThat(second.read(one(), Streams.TIMEOUT)).isEqualTo(-1);
            assertThatThrownBy(() -> second.write(one())).isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void aCloseInTheBackgroundDeliversEverything() throws Exception {
        byte[] data = Streams.data(2, 60_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            pair.client().write(ByteBuffer.wrap(data), Streams.TIMEOUT);
            CompletableFuture<Void> closed = pair.client().closeAsync();
            assertThat(pair.client().isOpen()).isFalse();
            assertThat(Streams.read(pair.server(), data.length)).isEqualTo(data);
            assertThat(pair.server().read(one(), Streams.TIMEOUT)).isEqualTo(-1);
            closed.get();
        }
    }

    @Test
    void aCloseWakesThreadsThatWait() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Integer> reading = Background.call(() -> pair.client().read(one(), Streams.TIMEOUT));
                Background<Void> writing = Background.run(
                        () -> pair.client().write(ByteBuffer.allocate(1_000_000), Streams.TIMEOUT));
                Background<RdmaStream> accepting = Background.call(() -> streams.server.accept(Streams.TIMEOUT))) {
            reading.awaitAsleep();
            writing.awaitAsleep();
            accepting.awaitAsleep();
            pair.client().close();
            assertThatThrownBy(reading::result).isInstanceOf(RdmaClosedException.class);
            assertThatThrownBy(writing::result).isInstanceOf(RdmaClosedException.class);
            streams.server.close();
            assertThatThrownBy(accepting::result).isInstanceOf(RdmaClosedException.class);
        }
    }

    @Test
    void aCloseBeforeTheEndOfAConnect() throws Exception {
        try (Streams streams = new Streams()) {
            for (int i = 0; i < 10; i++) {
                RdmaStream stream = RdmaStream.open();
                stream.startConnect(streams.server.localAddress());
                for (int j = 0; j < i; j++) {
                    stream.finishConnect();
                }
                stream.close();
                assertThatThrownBy(stream::finishConnect).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void callsBeforeTheConnect() throws Exception {
        try (RdmaStream stream = RdmaStream.open()) {
            assertThatThrownBy(() -> stream.read(one())).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> stream.write(one())).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::finishConnect).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::shutdownInput).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::shutdownOutput).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::protectionDomain).isInstanceOf(IllegalStateException.class);
            assertThat(stream.poll()).isZero();
            assertThat(stream.lentBytes()).isZero();
            assertThat(stream.localAddress()).isNull();
            assertThat(stream.await(RdmaStream.READABLE, Duration.ZERO)).isZero();
            stream.bind(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            assertThat(stream.localAddress().getPort()).isPositive();
            assertThatThrownBy(() -> stream.bind(stream.localAddress())).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        InetSocketAddress address;
        try (Streams streams = new Streams()) {
            address = streams.server.localAddress();
        }
        assertThatThrownBy(() -> RdmaStream.connect(address, Streams.TIMEOUT)).isInstanceOf(RejectedException.class);
    }

    @Test
    void aStreamThatNobodyTookEndsWithTheServer() throws Exception {
        try (Streams streams = new Streams();
                RdmaStream client = RdmaStream.connect(streams.server.localAddress(), Streams.TIMEOUT)) {
            // A handshake that the server does not know to be complete is broken off instead.
            while (!streams.server.isAcceptable()) {
                Thread.yield();
            }
            streams.server.close();
            assertThat(client.read(one(), Streams.TIMEOUT)).isEqualTo(-1);
        }
    }

    @Test
    void theDeathOfThePeerIsNotAnEndOfTheStream() throws Exception {
        try (Streams streams = new Streams()) {
            String phase = "stream=" + streams.server.localAddress().getPort();
            try (PeerProcess peer = PeerProcess.start(phase, phase)) {
                assertThat(peer.line()).isEqualTo("stream");
                assertThat(peer.line()).isEqualTo("stream");
                try (RdmaStream read = streams.server.accept(Streams.TIMEOUT);
                        RdmaStream written = streams.server.accept(Streams.TIMEOUT);
                        Background<Integer> reading = Background.call(() -> read.read(one(), Streams.TIMEOUT));
                        Background<Integer> writing = Background.call(() -> writeForEver(written))) {
                    reading.awaitAsleep();
                    writing.awaitAsleep();
                    Measured killed = peer.kill();
                    // The kernel of the peer has ended the connection in order: nothing was broken.
                    assertThatThrownBy(reading::result).isInstanceOf(DisconnectedException.class);
                    assertFails(writing);
                    killed.print("process of the peer of a stream killed, until a read fails", reading.end());
                    killed.print("process of the peer of a stream killed, until a write fails", writing.end());
                    assertIsOver(read);
                    assertIsOver(written);
                }
            }
        }
    }

    private static void assertFails(Background<Integer> waiting) {
        assertThatThrownBy(waiting::result).isInstanceOf(RdmaException.class)
                .isNotInstanceOf(RdmaClosedException.class);
    }

    private static void assertIsOver(RdmaStream stream) {
        assertThatThrownBy(() -> stream.write(one())).isInstanceOf(RdmaException.class);
        assertThat(stream.poll() & RdmaStream.ENDED).isNotZero();
    }

    private static Integer writeForEver(RdmaStream stream) throws Exception {
        while (true) {
            stream.write(ByteBuffer.allocate(100_000), Streams.TIMEOUT);
        }
    }

    @Test
    void keepAliveNoticesNothingWhileThePeerLives() throws Exception {
        StreamSettings settings = StreamSettings.builder().keepAlive(Duration.ofMillis(5)).build();
        try (Streams streams = new Streams(settings); Streams.Pair pair = streams.connect(settings)) {
            assertThat(pair.client().await(RdmaStream.READABLE | RdmaStream.ENDED, Duration.ofMillis(200))).isZero();
            pair.client().write(ByteBuffer.wrap(new byte[] {3}), Streams.TIMEOUT);
            assertThat(Streams.read(pair.server(), 1)).containsExactly(3);
        }
    }

    @Test
    void regionsOfTheProgramMayOutliveTheStreams() throws Exception {
        MemoryRegion region;
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            region = pair.client().protectionDomain().allocate(100, AccessFlag.LOCAL_WRITE);
        }
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            assertThat(pair.client().protectionDomain()).isSameAs(region.protectionDomain());
            assertThat(pair.client().write(region, 0, 100)).isEqualTo(100);
            assertThat(Streams.read(pair.server(), 100)).hasSize(100);
            region.close();
        }
    }

    @Test
    void theLastRegionOfTheProgramClosesTheDomain() throws Exception {
        // streams of other tests that are closed in the background
        ResourceCounts.await(counts -> counts.objects() == 0, Streams.TIMEOUT);
        ProtectionDomain domain;
        MemoryRegion region;
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            domain = pair.client().protectionDomain();
            region = domain.allocate(100, AccessFlag.LOCAL_WRITE);
        }
        assertThat(domain.isOpen()).isTrue();
        region.close();
        assertThat(domain.isOpen()).isFalse();
    }

    @Test
    void closesUnderTraffic() throws Exception {
        Random random = Seed.random(8);
        try (Streams streams = new Streams()) {
            for (int i = 0; i < 30; i++) {
                Streams.Pair pair = streams.connect();
                boolean client = random.nextBoolean();
                int spins = random.nextInt(1000);
                try (Background<Object> up = Background.call(() -> untilItEnds(() -> writeForEver(pair.client())));
                        Background<Object> down = Background.call(() -> untilItEnds(() -> writeForEver(pair.server())));
                        Background<Object> in = Background.call(() -> untilItEnds(() -> readForEver(pair.client())));
                        Background<Object> out = Background.call(() -> untilItEnds(() -> readForEver(pair.server())))) {
                    for (int j = 0; j < spins; j++) {
                        Thread.yield();
                    }
                    end(pair, client).close();
                    for (Background<Object> end : List.of(up, down, in, out)) {
                        assertThat(end.result()).isInstanceOfAny(RdmaClosedException.class,
                                DisconnectedException.class, Integer.class);
                    }
                } finally {
                    pair.close();
                }
            }
        }
    }

    private static Object untilItEnds(Callable<Integer> work) throws Exception {
        try {
            return work.call();
        } catch (RdmaException e) {
            return e;
        }
    }

    private static Integer readForEver(RdmaStream stream) throws Exception {
        ByteBuffer target = ByteBuffer.allocate(100_000);
        int length = 0;
        while (length >= 0) {
            length = stream.read(target.clear(), Streams.TIMEOUT);
        }
        return length;
    }
}
