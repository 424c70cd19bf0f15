// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How threads wait for connections: how long they poll, and how they take each other's place. */
@RequiresRdma
@SuppressWarnings("try")
class WaitingDeviceTest {
    @TempDir
    private Path folder;

    static Stream<WaitPolicy> policies() {
        return Stream.of(WaitPolicy.sleepAtOnce(), WaitPolicy.spinAlways(), WaitPolicy.defaults(),
                WaitPolicy.spinFor(Duration.ofMillis(5)));
    }

    private static void echo(Connection connection) throws Exception {
        try {
            while (true) {
                try (Message message = connection.receive(Peers.TIMEOUT)) {
                    connection.send(message.memory(), Peers.TIMEOUT);
                }
            }
        } catch (DisconnectedException e) {
            // the end
        }
    }

    private static void ping(Connection connection, int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            connection.send(new byte[i % 100], Peers.TIMEOUT);
            try (Message message = connection.receive(Peers.TIMEOUT)) {
                assertThat(message.length()).isEqualTo(i % 100);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void pingPong(WaitPolicy policy) throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().waiting(policy).build();
        try (Peers peers = new Peers(4, settings); Peers.Pair pair = peers.connect(settings)) {
            Background<Void> echo = Background.run(() -> echo(pair.server()));
            ping(pair.client(), 300);
            ConnectionCounters counters = pair.client().counters();
            if (policy.equals(WaitPolicy.spinAlways())) {
                assertThat(counters.waits()).isZero();
            } else if (policy.equals(WaitPolicy.sleepAtOnce())) {
                assertThat(counters.waits()).isPositive();
                assertThat(counters.asleep()).isPositive();
            }
            pair.client().close();
            echo.result();
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void aWaitEndsInTime(WaitPolicy policy) throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().waiting(policy).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(settings)) {
            for (int millis : new int[] {0, 1, 30}) {
                long start = System.nanoTime();
                assertThatThrownBy(() -> pair.client().receive(Duration.ofMillis(millis)))
                        .isInstanceOf(RdmaTimeoutException.class);
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(Duration.ofMillis(millis).toNanos());
            }
            try (Background<Void> waiting = Background.run(() -> pair.client().receive(Peers.LONG))
                    .awaitInside(Connection.class, "await")) {
                waiting.interrupt();
                assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            }
            try (Background<Void> waiting = Background.run(() -> pair.client().receive(Peers.LONG))
                    .awaitInside(Connection.class, "await")) {
                pair.server().close();
                assertThatThrownBy(waiting::result).isInstanceOf(DisconnectedException.class);
            }
        }
    }

    /** The thread that waits sleeps on the files of the device itself. */
    @Test
    void noThreadStandsBetweenTheDeviceAndWhoWaits() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                Background<Message> waiting = Background.call(() -> pair.client().receive(Peers.LONG))
                        .awaitInside(Libc.class, "poll")) {
            assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
                    .filteredOn(name -> name.startsWith("rdmacm-"))
                    .allSatisfy(name -> assertThat(name).doesNotContain("loop").doesNotContain("complet"));
            pair.server().send(new byte[3], Peers.TIMEOUT);
            assertThat(waiting.result().length()).isEqualTo(3);
        }
    }

    private static List<Background<Message>> receivers(Connection connection, int count) {
        List<Background<Message>> receivers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            receivers.add(Background.call(() -> connection.receive(Peers.LONG)).awaitAsleep());
        }
        return receivers;
    }

    @Test
    void aFollowerTakesThePlaceOfALeaderThatIsInterrupted() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            List<Background<Message>> receivers = receivers(pair.client(), 4);
            for (Background<Message> leader : receivers.subList(0, 3)) {
                leader.awaitInside(Libc.class, "poll").interrupt();
                assertThatThrownBy(leader::result).isInstanceOf(InterruptedException.class);
            }
            receivers.get(3).awaitInside(Libc.class, "poll");
            pair.server().send(new byte[3], Peers.TIMEOUT);
            assertThat(receivers.get(3).result().length()).isEqualTo(3);
        }
    }

    @Test
    void aFollowerTakesThePlaceOfALeaderWhoseTimeIsOver() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            Background<Message> leader = Background.call(() -> pair.client().receive(Duration.ofMillis(500)))
                    .awaitInside(Libc.class, "poll");
            List<Background<Message>> receivers = receivers(pair.client(), 2);
            assertThatThrownBy(leader::result).isInstanceOf(RdmaTimeoutException.class);
            receivers.get(0).awaitInside(Libc.class, "poll");
            pair.server().send(new byte[3], Peers.TIMEOUT);
            pair.server().send(new byte[3], Peers.TIMEOUT);
            for (Background<Message> receiver : receivers) {
                assertThat(receiver.result().length()).isEqualTo(3);
            }
        }
    }

    @Test
    void aFollowerThatLeavesTakesNothingAlong() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            List<Background<Message>> receivers = receivers(pair.client(), 3);
            receivers.get(1).interrupt();
            assertThatThrownBy(receivers.get(1)::result).isInstanceOf(InterruptedException.class);
            pair.server().send(new byte[3], Peers.TIMEOUT);
            pair.server().send(new byte[3], Peers.TIMEOUT);
            assertThat(receivers.get(0).result().length()).isEqualTo(3);
            assertThat(receivers.get(2).result().length()).isEqualTo(3);
        }
    }

    @Test
    void aLeaderThatHasItsMessageLeavesTheRestToTheOthers() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            List<Background<Message>> receivers = receivers(pair.client(), 5);
            for (int i = 0; i < 5; i++) {
                pair.server().send(new byte[i], Peers.TIMEOUT);
            }
            int sum = 0;
            for (Background<Message> receiver : receivers) {
                sum += receiver.result().length();
            }
            assertThat(sum).isEqualTo(10);
        }
    }

    @Test
    void aCloseWakesAll() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            List<Background<Message>> here = receivers(pair.client(), 4);
            List<Background<Message>> there = receivers(pair.server(), 4);
            pair.client().close();
            for (Background<Message> receiver : here) {
                assertThatThrownBy(receiver::result).isInstanceOf(RdmaClosedException.class);
            }
            for (Background<Message> receiver : there) {
                assertThatThrownBy(receiver::result).isInstanceOf(DisconnectedException.class);
            }
        }
    }

    /** A receiver that leads and a sender that has to wait for room: what frees the room reaches the sender. */
    @Test
    void whoWaitsForSomethingElseIsWokenByTheLeader() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings tiny = ConnectionSettings.builder().receiveBuffers(1).sendBuffers(1).operations(1).build();
        try (Peers peers = new Peers(4, tiny); Peers.Pair pair = peers.connect(tiny)) {
            Background<Message> receiving = Background.call(() -> pair.client().receive(Peers.LONG))
                    .awaitInside(Libc.class, "poll");
            pair.client().send(new byte[1], Peers.TIMEOUT);
            Message blocking = pair.server().receive(Peers.TIMEOUT);
            pair.client().send(new byte[1], Peers.TIMEOUT);
            Background<Void> sending = Background.run(() -> pair.client().send(new byte[1], Peers.LONG)).awaitAsleep();
            blocking.close();
            pair.server().receive(Peers.TIMEOUT).close();
            sending.result();
            pair.server().receive(Peers.TIMEOUT).close();
            assertThat(receiving.isDone()).isFalse();
            pair.server().send(new byte[7], Peers.TIMEOUT);
            assertThat(receiving.result().length()).isEqualTo(7);
        }
    }

    @Test
    void aThousandVirtualThreadsWaitWithoutPinning() throws Exception {
        int connections = 20;
        int each = 50;
        Path file = folder.resolve("waits.jfr");
        try (Peers peers = new Peers(); Recording recording = new Recording();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            recording.enable("jdk.VirtualThreadPinned").withoutThreshold();
            // Writing an event pins: the recorder has locks of its own.
            recording.disable("io.rdmacm.Sleep");
            List<Peers.Pair> pairs = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                pairs.add(peers.connect());
            }
            // once, so that no class is loaded below
            try (Background<Message> first = Background.call(() -> pairs.get(0).client().receive(Peers.LONG))
                    .awaitAsleep()) {
                pairs.get(0).server().send(new byte[1], Peers.TIMEOUT);
                first.result().close();
            }
            Future<?> warm = threads.submit(() -> pairs.get(0).client().receive(Peers.LONG));
            pairs.get(0).server().send(new byte[1], Peers.TIMEOUT);
            warm.get();
            // The first failed completion below would load the class of its event.
            ConnectionEvents.recordsFailures();
            recording.start();
            CountDownLatch begun = new CountDownLatch(connections * each);
            List<Future<Message>> waiting = new ArrayList<>();
            for (Peers.Pair pair : pairs) {
                for (int i = 0; i < each; i++) {
                    waiting.add(threads.submit(() -> {
                        begun.countDown();
                        return pair.client().receive(Peers.LONG);
                    }));
                }
            }
            // Carriers are few: that all have begun says that those before them sleep without one.
            assertThat(begun.await(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            for (Peers.Pair pair : pairs) {
                for (int i = 0; i < 10; i++) {
                    pair.server().send(new byte[i], Peers.TIMEOUT);
                }
                pair.server().close();
            }
            int received = 0;
            int ended = 0;
            for (Future<Message> future : waiting) {
                try (Message message = future.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                    received++;
                } catch (ExecutionException e) {
                    assertThat(e).hasCauseInstanceOf(DisconnectedException.class);
                    ended++;
                }
            }
            recording.stop();
            recording.dump(file);
            assertThat(received).isEqualTo(connections * 10);
            assertThat(ended).isEqualTo(connections * (each - 10));
        }
        assertThat(RecordingFile.readAllEvents(file)).filteredOn(
                event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned")).isEmpty();
    }

    @Test
    void virtualThreadsPlayPingPong() throws Exception {
        try (Peers peers = new Peers(); ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> pings = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Peers.Pair pair = peers.connect();
                threads.submit(() -> {
                    echo(pair.server());
                    return null;
                });
                pings.add(threads.submit(() -> {
                    ping(pair.client(), 50);
                    pair.close();
                    return null;
                }));
            }
            for (Future<?> ping : pings) {
                ping.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }
}
