// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmId;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RejectReason;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** Faults of connections of the connection layer. */
enum MessageFault implements Scenario {
    /** The server rejects the connection. */
    REJECTED {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            byte[] reason = new byte[1 + random.nextInt(148)];
            random.nextBytes(reason);
            worker.runBoth(() -> fixture.listener().nextRequest(worker.timeout()).reject(reason), () -> {
                RejectedException e = Expect.failure(RejectedException.class, () -> fixture.connect(worker).close());
                LossException.unless(Arrays.equals(Arrays.copyOf(e.privateData(), reason.length), reason),
                        "the reason of a rejection has changed on its way");
            });
        }
    },
    /** The port is bound, but nobody listens on it. */
    NOBODY_LISTENS {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            try (EventChannel channel = EventChannel.open(); CmId bound = CmId.open(channel, PortSpace.TCP)) {
                bound.bindAddress(worker.anyPort());
                InetSocketAddress nobody = bound.localAddress();
                RejectedException e = Expect.failure(RejectedException.class,
                        () -> fixture.clients().connect(nobody, worker.timeout()).close());
                LossException.unless(e.reason() == RejectReason.INVALID_SERVICE_ID, "nobody listens: %s", e);
            }
        }
    },
    /** The server does not answer in time. */
    NO_ANSWER {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(1 + random.nextInt(50));
            try (Listener silent = fixture.servers().listen(worker.anyPort())) {
                // the kernel's own timeout may expire first
                Expect.failureOf(() -> fixture.clients().connect(silent.address(), little).close(),
                        RdmaTimeoutException.class, UnreachableException.class);
            }
        }
    },
    /** The server closes while the client sends. */
    CLOSED_BY_PEER {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            int count = random.nextInt(20);
            boolean abruptly = random.nextBoolean();
            worker.runBoth(() -> {
                Connection connection = fixture.accept(worker);
                try (connection) {
                    for (int i = 0; i < count; i++) {
                        Messages.receive(worker, connection, i);
                    }
                    if (abruptly) {
                        // an interrupted close does not wait for the peer
                        Thread.currentThread().interrupt();
                    }
                }
                LossException.unless(Thread.interrupted() == abruptly, "a close has changed the interrupt status");
            }, () -> {
                try (Connection connection = fixture.connect(worker)) {
                    Expect.failureOf(() -> {
                        for (int i = 0; true; i++) {
                            Messages.send(worker, connection, i, MessageFixture.SIZE / 2);
                        }
                    }, DisconnectedException.class, WorkCompletionException.class);
                }
            });
        }
    },
    /** A receive times out; the connection can be used afterwards. */
    SILENCE {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(random.nextInt(20));
            withEcho(worker, fixture, connection -> Expect.failure(RdmaTimeoutException.class,
                    () -> connection.receive(little).close()));
        }
    },
    /** The client's thread is interrupted while it waits; the connection can be used afterwards. */
    INTERRUPTED {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            withEcho(worker, fixture, connection -> {
                Future<Void> interrupting = worker.interruptSoon(random);
                Expect.failure(InterruptedException.class, () -> connection.receive(worker.timeout()).close());
                worker.join(interrupting);
            });
        }
    },
    /** A send times out because the server's buffers are full; nothing is lost once it receives. */
    FULL {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            CompletableFuture<Integer> sent = new CompletableFuture<>();
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    int count = sent.get(worker.timeout().toMillis(), TimeUnit.MILLISECONDS);
                    for (int i = 0; i < count; i++) {
                        Messages.receive(worker, connection, i);
                    }
                    Messages.end(worker, connection, true);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker)) {
                    int[] count = {0};
                    Expect.failure(RdmaTimeoutException.class, () -> {
                        byte[] data = new byte[Payload.HEADER];
                        while (true) {
                            Payload.write(MemorySegment.ofArray(data), count[0]);
                            connection.send(data, Duration.ofMillis(random.nextInt(200)));
                            count[0]++;
                        }
                    });
                    sent.complete(count[0]);
                    Messages.end(worker, connection, false);
                }
            });
        }
    },
    /** Another thread closes the connection while this one waits for a message. */
    CLOSED_BY_ANOTHER {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    Messages.end(worker, connection, false);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker)) {
                    Future<Void> closing = worker.runSoon(random, connection::close);
                    Expect.failure(RdmaClosedException.class, () -> connection.receive(worker.timeout()).close());
                    worker.join(closing);
                }
            });
        }
    },
    /** Another thread closes the managers while one thread waits for a message and another one for a connection. */
    MANAGER_CLOSED {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            try (MessageFixture own = MessageFixture.open(worker)) {
                // The first one may come too late as well.
                worker.runBoth(() -> Expect.failure(RdmaClosedException.class, () -> {
                    own.accept(worker);
                    own.accept(worker);
                }), () -> {
                    Connection connection = own.connect(worker);
                    Future<Void> closing = worker.runSoon(random, own::close);
                    // depends on which manager is closed first
                    Expect.failureOf(() -> connection.receive(worker.timeout()).close(), RdmaClosedException.class,
                            DisconnectedException.class);
                    worker.join(closing);
                });
            }
        }
    },
    /** The client reads the peer's memory with an invalid key. */
    WRONG_KEY {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    Expect.failureOf(() -> connection.receive(worker.timeout()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker); MemoryRegion region =
                        connection.protectionDomain().allocate(MessageFixture.SIZE, AccessFlag.LOCAL_WRITE)) {
                    WorkCompletionException e = Expect.failure(WorkCompletionException.class,
                            () -> connection.read(region, 0, Payload.HEADER, new RemoteMemory(region.remoteAddress(),
                                    region.remoteKey() ^ (1 + random.nextInt(255)), region.length()),
                                    worker.timeout()));
                    LossException.unless(e.status() == WorkCompletionStatus.REM_ACCESS_ERR, "a wrong key: %s", e);
                }
            });
        }
    },
    /** The client sends a message longer than the server's maximum. */
    TOO_LONG {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            ConnectionSettings larger = MessageFixture.settings(worker).messageSize(2 * MessageFixture.SIZE).build();
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    Expect.failureOf(() -> connection.receive(worker.timeout()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker, larger)) {
                    Messages.send(worker, connection, 1, MessageFixture.SIZE + 1 + random.nextInt(MessageFixture.SIZE));
                    Expect.failureOf(() -> connection.receive(worker.timeout()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            });
        }
    };

    /** The fault, after which the connection is used as if nothing had happened. */
    @FunctionalInterface
    private interface Fault {
        void provoke(Connection connection) throws Exception;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        inject(worker, MessageFixture.of(worker), random);
        worker.counters().countFault(toString());
    }

    abstract void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception;

    private static void withEcho(Worker worker, MessageFixture fixture, Fault fault) throws Exception {
        worker.runBoth(() -> {
            try (Connection connection = fixture.accept(worker)) {
                Messages.echo(worker, connection, 1, 1);
                Messages.end(worker, connection, false);
            }
        }, () -> {
            try (Connection connection = fixture.connect(worker)) {
                fault.provoke(connection);
                Messages.send(worker, connection, 1, MessageFixture.SIZE);
                Messages.receive(worker, connection, 1);
                Messages.end(worker, connection, true);
            }
        });
    }

    @Override
    public String toString() {
        return "message-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
