// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A connection is closed while other threads do everything that can be done with it. */
@RequiresRdma
class ConnectionRacesDeviceTest {
    private static final int ROUNDS = 12;

    /** Who drives the connections of the client. */
    enum Driver {
        NONE, THREADS, SHARED_RECEIVES, PROGRAM
    }

    /** Who ends them. */
    enum End {
        CLOSE, PEER, MANAGER
    }

    /** Everything of one connection that is used until its end. */
    private static final class Used {
        private final Connection connection;
        private final MemoryRegion region;
        private final BlockingQueue<CompletableFuture<?>> futures = new LinkedBlockingQueue<>();
        private final AtomicInteger started = new AtomicInteger();
        private final AtomicInteger reported = new AtomicInteger();
        private final Queue<RdmaException> failures = new ConcurrentLinkedQueue<>();

        Used(Connection connection, MemoryRegion region) {
            this.connection = connection;
            this.region = region;
        }

        void send() throws Exception {
            connection.send(new byte[100], Peers.TIMEOUT);
        }

        void sendRegion() throws Exception {
            connection.send(region, 0, 64, Peers.TIMEOUT);
        }

        void fillIn() throws Exception {
            try (OutgoingMessage message = connection.message(8, Peers.TIMEOUT)) {
                message.memory().fill((byte) 1);
                message.send(Peers.TIMEOUT);
            }
        }

        void sendLater() throws Exception {
            CompletableFuture<Void> future = connection.async().send(MemorySegment.ofArray(new byte[8]));
            futures.add(future);
            if (futures.size() % 20 == 0 || future.isCompletedExceptionally()) {
                Flavour.get(future);
            }
        }

        void queue() throws Exception {
            started.incrementAndGet();
            boolean done = false;
            try {
                done = connection.queue().send(region, 0, 8, this::completed, 0);
            } finally {
                if (!done) {
                    started.decrementAndGet();
                }
            }
            Thread.yield();
        }

        private void completed(Connection who, long context, RdmaException failure) {
            if (failure != null) {
                failures.add(failure);
            }
            reported.incrementAndGet();
        }

        void batch() throws Exception {
            CompletableFuture<?>[] last = new CompletableFuture<?>[1];
            connection.queue().batch(() -> {
                for (int i = 0; i < 5; i++) {
                    last[0] = connection.async().send(region, 0, 8);
                    futures.add(last[0]);
                }
            });
            connection.counters();
            Flavour.get(last[0]);
            if (!connection.isConnected()) {
                throw new DisconnectedException("the end", DisconnectedException.Reason.DISCONNECTED_HERE, null);
            }
        }

        void receive() throws Exception {
            try (Message message = connection.receive(Peers.TIMEOUT)) {
                message.toArray();
            }
        }

        void tryReceive() throws Exception {
            try (Message message = connection.tryReceive()) {
                if (message == null) {
                    Thread.yield();
                }
            }
        }
    }

    private static Background<Void> untilItFails(Background.Action action) {
        return Background.run(() -> {
            try {
                while (true) {
                    action.run();
                }
            } catch (DisconnectedException | RdmaClosedException e) {
                // what the end of a connection is
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void whileEverybodyIsAtWork(Driver driver) throws Exception {
        ConnectionSettings.Builder settings = ConnectionSettings.builder().linger(Duration.ofMillis(50));
        Random random = Seed.random(driver.ordinal());
        try (Peers peers = new Peers(64, settings.build())) {
            boolean[] done = {false};
            Background<Void> driving = null;
            switch (driver) {
                case NONE -> { }
                case THREADS -> settings.loops(peers.clients.startLoops(LoopSettings.defaults()));
                case SHARED_RECEIVES -> settings.loops(peers.clients.startLoops(LoopSettings.builder()
                        .sharedReceives(16, 4096).build()));
                case PROGRAM -> {
                    ConnectionLoop loop = peers.clients.openLoop(peers.listener.address().getAddress(),
                            LoopSettings.defaults());
                    settings.loops(loop);
                    driving = Background.run(() -> {
                        while (!done[0]) {
                            loop.progress();
                            Thread.yield();
                        }
                    });
                }
            }
            // once, for what is opened when a thread first sleeps
            race(peers, settings.build(), random, End.CLOSE);
            ResourceCounts before = ResourceCounts.settled(Peers.TIMEOUT);
            for (int round = 0; round < ROUNDS; round++) {
                race(peers, settings.build(), random, End.values()[round % 2]);
            }
            done[0] = true;
            if (driving != null) {
                driving.result();
            }
            // A loop that had to add receives keeps them.
            if (driver != Driver.SHARED_RECEIVES) {
                assertThat(ResourceCounts.await(before, Peers.TIMEOUT)).isEqualTo(before);
            }
            race(peers, settings.build(), random, End.MANAGER);
        }
    }

    private static void race(Peers peers, ConnectionSettings settings, Random random, End end) throws Exception {
        Peers.Pair pair = peers.connect(settings);
        MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
        Used used = new Used(pair.client(), region);
        List<Background<Void>> threads = new ArrayList<>();
        for (Background.Action action : List.<Background.Action>of(used::send, used::sendRegion, used::fillIn,
                used::sendLater, used::queue, used::batch, used::receive, used::tryReceive,
                () -> pair.server().receive(Peers.TIMEOUT).close(),
                () -> pair.server().send(new byte[50], Peers.TIMEOUT))) {
            threads.add(untilItFails(action));
        }
        LockSupport.parkNanos(random.nextInt(20_000_000));
        switch (end) {
            case CLOSE -> {
                Background<Void> other = Background.run(pair.client()::close);
                pair.client().close();
                other.result();
            }
            case PEER -> pair.server().close();
            case MANAGER -> {
                // refused, because the region is open; but the connections are closed
                assertThatThrownBy(peers.clients::close).isInstanceOf(IllegalStateException.class);
            }
        }
        for (Background<Void> thread : threads) {
            thread.result();
        }
        pair.close();
        for (CompletableFuture<?> future : used.futures) {
            try {
                Flavour.get(future);
            } catch (DisconnectedException | RdmaClosedException e) {
                // It was under way when the connection ended.
            }
        }
        while (used.reported.get() < used.started.get()) {
            Thread.yield();
        }
        assertThat(used.reported).hasValue(used.started.get());
        assertThat(used.failures).allSatisfy(failure ->
                assertThat(failure).isInstanceOfAny(DisconnectedException.class, RdmaClosedException.class));
        region.close();
    }

    /** Handlers that close their connection while the peer, other threads and the manager do so as well. */
    @ParameterizedTest
    @EnumSource
    void whileHandlersAreCalled(End end) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            AtomicInteger connects = new AtomicInteger();
            AtomicInteger ends = new AtomicInteger();
            AtomicInteger late = new AtomicInteger();
            ConnectionHandler handler = new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) {
                    connects.incrementAndGet();
                }

                @Override
                public void onMessage(Connection connection, Message message) {
                    if (ends.get() > 0) {
                        late.incrementAndGet();
                    }
                    connection.async().send(MemorySegment.ofArray(message.toArray()));
                    if (end == End.CLOSE && message.length() == 40) {
                        close(connection);
                    }
                }

                @Override
                public void onDisconnect(Connection connection, RdmaException reason) {
                    ends.incrementAndGet();
                    close(connection);
                }

                private void close(Connection connection) {
                    try {
                        connection.close();
                    } catch (RdmaException e) {
                        throw new AssertionError(e);
                    }
                }
            };
            try (Peers peers = new Peers()) {
                ConnectionSettings.Builder settings = ConnectionSettings.builder().linger(Duration.ofMillis(50))
                        .handler(handler);
                if (round % 2 == 0) {
                    settings.loops(peers.clients.startLoops(LoopSettings.defaults()));
                }
                Peers.Pair pair = peers.connect(settings.build());
                Background<Void> sending = untilItFails(() -> {
                    for (int i = 0; i < 50; i++) {
                        pair.server().send(new byte[i], Peers.TIMEOUT);
                    }
                });
                Background<Void> receiving = untilItFails(() -> pair.server().receive(Peers.TIMEOUT).close());
                Background<Void> other = untilItFails(() -> pair.client().send(new byte[1], Peers.TIMEOUT));
                LockSupport.parkNanos(round * 1_000_000L);
                switch (end) {
                    case CLOSE -> { }
                    case PEER -> pair.server().close();
                    case MANAGER -> peers.clients.close();
                }
                sending.result();
                receiving.result();
                other.result();
                while (ends.get() == 0) {
                    Thread.yield();
                }
            }
            assertThat(connects).hasValue(1);
            assertThat(ends).hasValue(1);
            assertThat(late).hasValue(0);
        }
    }
}
