// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Interleavings;
import org.junit.jupiter.api.Test;

/** Peers that come, stay away and leave at any time: who waits is told, the bound holds, and nothing is left. */
class AcceptorInterleavingTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration BRIEF = Interleavings.isControlled() ? Duration.ofSeconds(1) : Duration.ofMillis(20);

    /** A server with its loop, and what it knows of its links. */
    private static final class Server {
        final CmLoop loop;
        final Acceptor<TestLink> acceptor;
        // the listening id
        volatile CmId id;
        final AtomicInteger prepared = new AtomicInteger();
        final AtomicInteger freed = new AtomicInteger();
        // how many may be prepared and not freed
        final AtomicInteger allowed = new AtomicInteger(Integer.MAX_VALUE);
        volatile boolean failing;

        Server(int backlog, Duration handshakeTimeout) throws RdmaException {
            int leftOver = CmId.forgetAll();
            loop = CmLoop.start();
            acceptor = Acceptor.listen(loop, new InetSocketAddress(0), new Acceptor.Settings<>("test", false, backlog,
                    handshakeTimeout, event -> new TestLink(this, event)));
            id = CmId.last();
        }

        /** Closes everything, and checks that nothing is left. */
        void close() throws RdmaException, InterruptedException {
            close(0);
        }

        /** Closes everything, and checks that nothing is left but some connections. */
        void close(int kept) throws RdmaException, InterruptedException {
            boolean ignored = acceptor.close(TestLink::close);
            // They may still give back what nobody wanted.
            Workers.join();
            loop.closeAll();
            assertThat(prepared.get() - freed.get()).as("not freed").isEqualTo(kept);
            assertThat(CmId.forgetAll()).as("open ids").isZero();
        }

        TestLink accept() throws RdmaException, InterruptedException {
            long start = System.nanoTime();
            try {
                return acceptor.accept(HOUR);
            } finally {
                assertThat(System.nanoTime() - start).as("waited").isLessThan(HOUR.toNanos() / 2);
            }
        }

        CompletableFuture<TestLink> acceptAsync() {
            return acceptor.acceptAsync(link -> link);
        }

        /** What a peer does that wants a connection, and tries until it has one, or nobody listens: null then. */
        CmId connect() throws InterruptedException {
            while (!id.isClosed()) {
                CmId peer = id.request();
                if (peer.awaitAnswer()) {
                    peer.confirm();
                    return peer;
                }
            }
            return null;
        }
    }

    /** A link without queues. */
    private static final class TestLink extends Link {
        private final Server server;
        // used by the thread of the loop only
        private boolean owns;

        TestLink(Server server, CmEvent request) {
            super(server.loop, request);
            this.server = server;
        }

        @Override
        protected ConnectionParameters prepare() {
            owns = true;
            int inUse = server.prepared.incrementAndGet() - server.freed.get();
            if (inUse > server.allowed.get()) {
                server.failing = true;
                throw new AssertionError("more than the backlog: " + inUse);
            }
            if (server.failing) {
                server.failing = false;
                throw new StackOverflowError("in a test");
            }
            return ConnectionParameters.defaults();
        }

        @Override
        protected void confirmed(CmEvent event) {
            // there is nothing to learn
        }

        @Override
        protected void free() {
            if (owns) {
                owns = false;
                server.freed.incrementAndGet();
            }
        }

        @Override
        protected Duration stepTime() {
            return HOUR;
        }
    }

    @Test
    void eachPeerIsTakenByOneOfTheThreadsThatAccept() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(2, HOUR);
            for (int i = 0; i < 2; i++) {
                threads.start("acceptor " + i, () -> server.accept().close());
                threads.start("peer " + i, server::connect);
            }
            threads.join();
            server.close();
        });
    }

    @Test
    void handshakesAndEstablishedConnectionsAreBoundedTogether() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            server.allowed.set(1);
            server.acceptor.beginAll();
            for (int i = 0; i < 3; i++) {
                threads.start("peer " + i, server::connect);
            }
            for (int i = 0; i < 3; i++) {
                server.allowed.incrementAndGet();
                TestLink link = server.accept();
                assertThat(link.failure()).isNull();
            }
            threads.join();
            assertThat(server.failing).as("over the bound").isFalse();
            // The ids of the loop are closed with it, the queues of connections with the connections.
            server.close(3);
        });
    }

    /** A server that looks at its file must find the next peer there, without asking before. */
    @Test
    void aConnectionThatIsTakenMakesRoomForTheNext() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            server.acceptor.beginAll();
            for (int i = 0; i < 2; i++) {
                threads.start("peer " + i, server::connect);
            }
            TestLink link = server.accept();
            threads.join();
            link.close();
            server.close();
        });
    }

    @Test
    void peersThatGiveUpAtAnyStepHurtNobody() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, BRIEF);
            threads.start("silent", () -> server.id.request().awaitAnswer());
            threads.start("impatient", () -> server.id.request().giveUp());
            threads.start("lost", () -> {
                CmId peer = server.id.request();
                if (peer.awaitAnswer()) {
                    peer.lose();
                }
            });
            AtomicBoolean taken = new AtomicBoolean();
            threads.start("good", () -> {
                // It may take too long, too, where all others are slow.
                for (CmId peer = server.connect(); peer != null && !taken.get(); peer = server.connect()) {
                    peer.awaitClose();
                }
            });
            TestLink link = server.accept();
            taken.set(true);
            link.close();
            server.close();
        });
    }

    @Test
    void aPeerThatLeavesAtOnceIsTakenOrDropped() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            threads.start("brief", () -> {
                CmId peer = server.id.request();
                if (peer.awaitAnswer()) {
                    peer.confirm();
                    peer.disconnectByPeer();
                }
            });
            threads.start("good", server::connect);
            server.accept().close();
            // A request that nobody has begun is rejected.
            server.close();
        });
    }

    @Test
    void aCloseEndsAcceptsAndHandshakes() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(2, HOUR);
            for (int i = 0; i < 2; i++) {
                threads.start("peer " + i, server::connect);
                threads.start("acceptor " + i, () -> {
                    try {
                        while (true) {
                            server.accept().close();
                        }
                    } catch (RdmaClosedException e) {
                        // as it should
                    }
                });
            }
            threads.start("inspector", () -> assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> {
                        while (true) {
                            server.acceptor.nextRequest(HOUR).close();
                        }
                    }));
            assertThat(server.acceptor.close(TestLink::close)).isTrue();
            threads.join();
            server.close();
        });
    }

    @Test
    void anErrorEndsOneHandshakeOnly() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            server.failing = true;
            threads.start("peer", server::connect);
            threads.start("another peer", server::connect);
            int failures = 0;
            int taken = 0;
            while (taken < 2) {
                try {
                    server.accept().close();
                    taken++;
                } catch (RdmaException e) {
                    failures++;
                }
            }
            assertThat(failures).isEqualTo(1);
            threads.join();
            server.close();
        });
    }

    @Test
    void anErrorOfWhoTakesConnectionsEndsThatConnection() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(2, HOUR);
            CountDownLatch calls = new CountDownLatch(2);
            server.acceptor.acceptAll(link -> {
                calls.countDown();
                if (calls.getCount() == 1) {
                    throw new StackOverflowError("in a test");
                }
                link.loop().later(() -> closeQuietly(link));
            });
            threads.start("peer", server::connect);
            threads.start("another peer", server::connect);
            threads.join();
            calls.await();
            server.close();
        });
    }

    /** Some may be established before, while nobody takes them. */
    @Test
    void whoTakesAllConnectionsGetsThoseThatNobodyHasTaken() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(2, HOUR);
            server.acceptor.beginAll();
            CountDownLatch taken = new CountDownLatch(2);
            threads.start("peer", server::connect);
            threads.start("another peer", server::connect);
            server.acceptor.acceptAll(link -> {
                taken.countDown();
                link.loop().later(() -> closeQuietly(link));
            });
            taken.await();
            threads.join();
            server.close();
        });
    }

    private static void closeQuietly(TestLink link) {
        try {
            link.close();
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void anInterruptedAcceptorLeavesItsPeerToAnother() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            Thread interrupted = threads.start("interrupted", () -> {
                try {
                    server.accept().close();
                } catch (InterruptedException e) {
                    // the peers are left to the other one
                }
            });
            Thread other = threads.start("acceptor", () -> server.accept().close());
            threads.start("peer", server::connect);
            threads.start("another peer", server::connect);
            interrupted.interrupt();
            threads.join(interrupted);
            threads.join(other);
            // A request that nobody has begun is rejected.
            server.close();
        });
    }

    @Test
    void eachPeerIsTakenByAFutureOrAThread() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            for (int i = 0; i < 2; i++) {
                threads.start("future " + i, () -> server.acceptAsync().get().close());
            }
            threads.start("acceptor", () -> server.accept().close());
            for (int i = 0; i < 3; i++) {
                threads.start("peer " + i, server::connect);
            }
            threads.join();
            server.close();
        });
    }

    @Test
    void aFutureThatIsCancelledLeavesItsPeerToAnother() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            CompletableFuture<TestLink> cancelled = server.acceptAsync();
            CompletableFuture<TestLink> next = server.acceptAsync();
            threads.start("peer", server::connect);
            Thread canceller = threads.start("canceller", () -> cancelled.cancel(false));
            threads.join(canceller);
            (cancelled.isCancelled() ? next : cancelled).get().close();
            threads.join();
            server.close();
        });
    }

    @Test
    void aFutureThatIsCancelledLeavesItsPeerToWhoTakesAll() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            CompletableFuture<TestLink> cancelled = server.acceptAsync();
            threads.start("peer", server::connect);
            Thread canceller = threads.start("canceller", () -> cancelled.cancel(false));
            CountDownLatch taken = new CountDownLatch(1);
            server.acceptor.acceptAll(link -> {
                taken.countDown();
                link.loop().later(() -> closeQuietly(link));
            });
            threads.join(canceller);
            if (cancelled.isCancelled()) {
                taken.await();
            } else {
                endsWell(cancelled, taken);
            }
            threads.join();
            server.close();
        });
    }

    /** A future gets the connection, or fails because who takes all was faster. */
    private static void endsWell(CompletableFuture<TestLink> future, CountDownLatch taken) throws Exception {
        try {
            future.get().close();
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(IllegalStateException.class);
            taken.await();
        }
    }

    @Test
    void aCloseEndsFutures() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            threads.start("peer", server::connect);
            for (int i = 0; i < 2; i++) {
                threads.start("future " + i, () -> {
                    try {
                        server.acceptAsync().get().close();
                    } catch (ExecutionException e) {
                        assertThat(e.getCause()).isInstanceOf(RdmaClosedException.class);
                    }
                });
            }
            assertThat(server.acceptor.close(TestLink::close)).isTrue();
            threads.join();
            server.close();
        });
    }

    @Test
    void acceptAndNextRequestBesideEachOther() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(2, HOUR);
            threads.start("inspector", () -> {
                try {
                    server.acceptor.nextRequest(HOUR).close();
                } catch (RdmaClosedException e) {
                    // Both requests were begun before.
                }
            });
            Thread acceptor = threads.start("acceptor", () -> server.accept().close());
            threads.start("peers", () -> {
                // The second one may be there when the first is taken.
                for (CmId peer : List.of(server.id.request(), server.id.request())) {
                    if (peer.awaitAnswer()) {
                        peer.confirm();
                    }
                }
            });
            threads.join(acceptor);
            server.close();
        });
    }

    /** Both have come when the thread that takes one of them wakes up. */
    @Test
    void nextRequestLeavesTheSecondOfTwoRequestsToAFuture() throws Exception {
        Interleavings.explore(threads -> {
            Server server = new Server(1, HOUR);
            CompletableFuture<TestLink> future = server.acceptAsync();
            threads.start("inspector", () -> server.acceptor.nextRequest(HOUR).close());
            List<CmEvent> requests = List.of(server.id.newRequest(), server.id.newRequest());
            server.loop.run(() -> {
                try (var _ = server.acceptor.lock.hold()) {
                    for (CmEvent request : requests) {
                        server.acceptor.handle(request);
                    }
                }
            });
            for (CmEvent request : requests) {
                threads.start("peer", () -> {
                    if (request.id().awaitAnswer()) {
                        request.id().confirm();
                    }
                });
            }
            future.get().close();
            threads.join();
            server.close();
        });
    }

    @Test
    void aTaskRunsOnceWhoeverEndsTheLoop() throws Exception {
        Interleavings.explore(threads -> {
            CmId.forgetAll();
            CmLoop loop = CmLoop.start();
            AtomicInteger run = new AtomicInteger();
            for (int i = 0; i < 2; i++) {
                threads.start("caller " + i, () -> {
                    loop.later(run::incrementAndGet);
                    loop.run(run::incrementAndGet);
                });
            }
            loop.closeAll();
            threads.join();
            assertThat(run).hasValue(4);
        });
    }

    @Test
    void anErrorInATaskReachesItsCaller() throws Exception {
        Interleavings.explore(threads -> {
            CmId.forgetAll();
            CmLoop loop = CmLoop.start();
            threads.start("caller", () -> assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> loop
                    .run(() -> {
                        throw new StackOverflowError("in a test");
                    })));
            loop.closeAll();
        });
    }
}
