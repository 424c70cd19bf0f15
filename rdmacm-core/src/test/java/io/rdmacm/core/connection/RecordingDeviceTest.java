// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Java Flight Recorder is told. */
@RequiresRdma
class RecordingDeviceTest {
    private static final List<String> NAMES = List.of("Connect", "Accept", "Disconnect", "FailedCompletion", "Sleep",
            "MemoryRegistration");

    @TempDir
    private Path folder;

    /** Something that is to be recorded. */
    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    private List<RecordedEvent> record(Work work) throws Exception {
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            NAMES.forEach(name -> recording.enable("io.rdmacm." + name).withoutThreshold());
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file);
    }

    private static List<RecordedEvent> only(List<RecordedEvent> events, String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals("io.rdmacm." + name)).toList();
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    @Test
    void theLifeOfAConnection() throws Exception {
        String[] addresses = new String[2];
        List<RecordedEvent> events = record(() -> {
            try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
                addresses[0] = text(pair.client().localAddress());
                addresses[1] = text(pair.client().peerAddress());
                Background<Message> leader = Background.call(() -> pair.client().receive(Peers.LONG))
                        .awaitInside(Libc.class, "poll");
                Background<Message> follower = Background.call(() -> pair.client().receive(Peers.LONG)).awaitAsleep();
                pair.server().send(new byte[1], Peers.TIMEOUT);
                pair.server().send(new byte[1], Peers.TIMEOUT);
                leader.result().close();
                follower.result().close();
                pair.client().close();
                assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT)).isInstanceOf(RdmaException.class);
            }
        });
        assertThat(only(events, "Connect")).singleElement().satisfies(event -> {
            assertThat(event.getString("localAddress")).isEqualTo(addresses[0]);
            assertThat(event.getString("peerAddress")).isEqualTo(addresses[1]);
            assertThat(event.getString("failure")).isNull();
            assertThat(event.getDuration()).isPositive();
            assertThat(event.getEventType().getCategoryNames()).containsExactly("RDMA");
        });
        assertThat(only(events, "Accept")).singleElement().satisfies(event -> {
            assertThat(event.getString("localAddress")).isEqualTo(addresses[1]);
            assertThat(event.getString("peerAddress")).isEqualTo(addresses[0]);
            assertThat(event.getString("failure")).isNull();
            assertThat(event.getDuration()).isPositive();
        });
        assertThat(only(events, "Disconnect")).hasSize(2).anySatisfy(event -> {
            assertThat(event.getString("localAddress")).isEqualTo(addresses[0]);
            assertThat(event.getBoolean("byPeer")).isFalse();
            assertThat(event.getString("reason")).contains("RdmaClosedException");
        }).anySatisfy(event -> {
            assertThat(event.getString("localAddress")).isEqualTo(addresses[1]);
            assertThat(event.getBoolean("byPeer")).isTrue();
            assertThat(event.getString("reason")).contains("DisconnectedException");
        });
        assertThat(only(events, "Sleep")).filteredOn(event -> event.getString("localAddress").equals(addresses[0]))
                .anySatisfy(event -> assertThat(event.getBoolean("leader")).isTrue())
                .anySatisfy(event -> assertThat(event.getBoolean("leader")).isFalse())
                .allSatisfy(event -> {
                    assertThat(event.getString("peerAddress")).isEqualTo(addresses[1]);
                    assertThat(event.getDuration()).isPositive();
                });
        assertThat(only(events, "FailedCompletion")).isEmpty();
    }

    @Test
    @SuppressWarnings("try")
    void theLifeOfAStream() throws Exception {
        String[] addresses = new String[2];
        List<RecordedEvent> events = record(() -> {
            try (RdmaStreamServer server = RdmaStreamServer.listen(
                    new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
                    RdmaStream client = RdmaStream.connect(server.localAddress(), Peers.TIMEOUT);
                    RdmaStream accepted = server.accept(Peers.TIMEOUT)) {
                addresses[0] = text(client.localAddress());
                addresses[1] = text(client.peerAddress());
                client.write(ByteBuffer.wrap(new byte[7]), Peers.TIMEOUT);
                ByteBuffer target = ByteBuffer.allocate(8);
                while (target.position() < 7) {
                    accepted.read(target, Peers.TIMEOUT);
                }
                assertThat(client.counters().bytesSent()).isEqualTo(7);
                assertThat(client.counters().messagesSent()).isPositive();
                assertThat(accepted.counters().bytesReceived()).isEqualTo(7);
                assertThat(accepted.counters().messagesReceived()).isPositive();
                client.close();
                assertThat(client.counters().bytesSent()).isEqualTo(7);
                assertThat(accepted.read(target, Peers.TIMEOUT)).isEqualTo(-1);
            }
        });
        for (String name : List.of("Connect", "Accept")) {
            assertThat(only(events, name)).singleElement().satisfies(event -> {
                assertThat(event.getString("localAddress")).isEqualTo(addresses[name.equals("Connect") ? 0 : 1]);
                assertThat(event.getString("peerAddress")).isEqualTo(addresses[name.equals("Connect") ? 1 : 0]);
                assertThat(event.getString("failure")).isNull();
            });
        }
        assertThat(only(events, "Disconnect")).hasSize(2)
                .extracting(event -> event.getString("localAddress")).containsExactlyInAnyOrder(addresses);
    }

    @Test
    void whatFails() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a refusal is told by the end of the connection only");
        int[] queuePair = new int[1];
        List<RecordedEvent> events = record(() -> {
            try (Peers peers = new Peers();
                    Peers.Pair pair = peers.connect();
                    MemoryRegion region = pair.client().protectionDomain().allocate(12_345, AccessFlag.LOCAL_WRITE)) {
                queuePair[0] = pair.client().queuePair().number();
                assertThatThrownBy(() -> pair.client().read(region, 0, 8, new RemoteMemory(4096, 1, 8),
                        Peers.TIMEOUT))
                        .isInstanceOf(WorkCompletionException.class);
            }
        });
        assertThat(only(events, "FailedCompletion")).singleElement().satisfies(event -> {
            assertThat(event.getString("status")).isEqualTo("REM_ACCESS_ERR");
            assertThat(event.getInt("queuePairNumber")).isEqualTo(queuePair[0]);
            assertThat(event.getEventType().getField("vendorError")).isNotNull();
            assertThat(event.getLong("workRequestId")).isNotNegative();
        });
        assertThat(only(events, "Disconnect")).anySatisfy(
                event -> assertThat(event.getString("reason")).contains("REM_ACCESS_ERR"));
        assertThat(only(events, "MemoryRegistration")).anySatisfy(event -> {
            assertThat(event.getLong("length")).isEqualTo(12_345);
            assertThat(event.getString("access")).isEqualTo("LOCAL_WRITE");
            assertThat(event.getDuration()).isPositive();
        });
    }

    @Test
    void aHandshakeThatIsNotAnswered() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (Peers peers = new Peers()) {
                assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(),
                        ConnectionSettings.defaults(), Duration.ofMillis(100))).isInstanceOf(RdmaException.class);
            }
        });
        assertThat(only(events, "Connect")).singleElement().satisfies(event -> assertThat(event.getString("failure"))
                .contains("in time"));
    }
}
