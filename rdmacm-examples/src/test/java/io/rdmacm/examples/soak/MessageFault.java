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
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** What goes wrong with a connection of the connection layer. */
enum MessageFault implements Act {
    /** The server does not want it. */
    REJECTED {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            byte[] reason = new byte[1 + random.nextInt(148)];
            random.nextBytes(reason);
            stage.together(() -> stand.listener().nextRequest(stage.patience()).reject(reason), () -> {
                RejectedException e = Stage.failing(RejectedException.class, () -> stand.connect(stage).close());
                LossException.unless(Arrays.equals(Arrays.copyOf(e.privateData(), reason.length), reason),
                        "the reason of a rejection has changed on its way");
            });
        }
    },
    /** The port is somebody's, but nobody listens on it. */
    NOBODY_LISTENS {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            try (EventChannel channel = EventChannel.open(); CmId bound = CmId.open(channel, PortSpace.TCP)) {
                bound.bindAddress(stage.anyPort());
                InetSocketAddress nobody = bound.localAddress();
                RejectedException e = Stage.failing(RejectedException.class,
                        () -> stand.clients().connect(nobody, stage.patience()).close());
                LossException.unless(e.reason() == RejectReason.INVALID_SERVICE_ID, "nobody listens: %s", e);
            }
        }
    },
    /** The server does not answer in time. */
    NO_ANSWER {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(1 + random.nextInt(50));
            try (Listener silent = stand.servers().listen(stage.anyPort())) {
                // the kernel may be the first to find that the time is over
                Stage.failingAny(() -> stand.clients().connect(silent.address(), little).close(),
                        RdmaTimeoutException.class, UnreachableException.class);
            }
        }
    },
    /** The server closes while the client sends. */
    CLOSED_BY_PEER {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            int count = random.nextInt(20);
            boolean abruptly = random.nextBoolean();
            stage.together(() -> {
                Connection connection = stand.accept(stage);
                try (connection) {
                    for (int i = 0; i < count; i++) {
                        Messages.receive(stage, connection, i);
                    }
                    if (abruptly) {
                        // then the close waits for nothing
                        Thread.currentThread().interrupt();
                    }
                }
                LossException.unless(Thread.interrupted() == abruptly, "a close has changed the interrupt");
            }, () -> {
                try (Connection connection = stand.connect(stage)) {
                    Stage.failingAny(() -> {
                        for (int i = 0; true; i++) {
                            Messages.send(stage, connection, i, MessageStand.SIZE / 2);
                        }
                    }, DisconnectedException.class, WorkCompletionException.class);
                }
            });
        }
    },
    /** The server says nothing for longer than the client waits, and then goes on. */
    SILENCE {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(random.nextInt(20));
            withEcho(stage, stand, connection -> Stage.failing(RdmaTimeoutException.class,
                    () -> connection.receive(little).close()));
        }
    },
    /** The client's thread is interrupted while it waits, and then goes on. */
    INTERRUPTED {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            withEcho(stage, stand, connection -> {
                Future<Void> interrupting = stage.interruptSoon(random);
                Stage.failing(InterruptedException.class, () -> connection.receive(stage.patience()).close());
                stage.result(interrupting);
            });
        }
    },
    /** The server does not receive for longer than the client waits; nothing is lost when it does. */
    FULL {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            CompletableFuture<Integer> sent = new CompletableFuture<>();
            stage.together(() -> {
                try (Connection connection = stand.accept(stage)) {
                    int count = sent.get(stage.patience().toMillis(), TimeUnit.MILLISECONDS);
                    for (int i = 0; i < count; i++) {
                        Messages.receive(stage, connection, i);
                    }
                    Messages.end(stage, connection, true);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage)) {
                    int[] count = {0};
                    Stage.failing(RdmaTimeoutException.class, () -> {
                        byte[] data = new byte[Payload.HEADER];
                        while (true) {
                            Payload.write(MemorySegment.ofArray(data), count[0]);
                            connection.send(data, Duration.ofMillis(random.nextInt(200)));
                            count[0]++;
                        }
                    });
                    sent.complete(count[0]);
                    Messages.end(stage, connection, false);
                }
            });
        }
    },
    /** Another thread closes the connection that is waited on. */
    CLOSED_BY_ANOTHER {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            stage.together(() -> {
                try (Connection connection = stand.accept(stage)) {
                    Messages.end(stage, connection, false);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage)) {
                    Future<Void> closing = stage.soon(random, connection::close);
                    Stage.failing(RdmaClosedException.class, () -> connection.receive(stage.patience()).close());
                    stage.result(closing);
                }
            });
        }
    },
    /** Another thread closes the manager of the connection that is waited on, and of the listener. */
    MANAGER_CLOSED {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            try (MessageStand own = MessageStand.open(stage)) {
                stage.together(() -> {
                    own.accept(stage);
                    Stage.failing(RdmaClosedException.class, () -> own.accept(stage));
                }, () -> {
                    Connection connection = own.connect(stage);
                    Future<Void> closing = stage.soon(random, own::close);
                    // whoever is closed first
                    Stage.failingAny(() -> connection.receive(stage.patience()).close(), RdmaClosedException.class,
                            DisconnectedException.class);
                    stage.result(closing);
                });
            }
        }
    },
    /** The client reads memory by a key that is none. */
    WRONG_KEY {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            stage.together(() -> {
                try (Connection connection = stand.accept(stage)) {
                    Stage.failingAny(() -> connection.receive(stage.patience()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage); MemoryRegion region =
                        connection.protectionDomain().allocate(MessageStand.SIZE, AccessFlag.LOCAL_WRITE)) {
                    WorkCompletionException e = Stage.failing(WorkCompletionException.class,
                            () -> connection.read(region, 0, Payload.HEADER, region.remoteAddress(),
                                    region.remoteKey() ^ (1 + random.nextInt(255)), stage.patience()));
                    LossException.unless(e.status() == WorkCompletionStatus.REM_ACCESS_ERR, "a wrong key: %s", e);
                }
            });
        }
    },
    /** The client sends more than the server takes. */
    TOO_LONG {
        @Override
        void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception {
            ConnectionSettings larger = MessageStand.settings(stage).messageSize(2 * MessageStand.SIZE).build();
            stage.together(() -> {
                try (Connection connection = stand.accept(stage)) {
                    Stage.failingAny(() -> connection.receive(stage.patience()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage, larger)) {
                    Messages.send(stage, connection, 1, MessageStand.SIZE + 1 + random.nextInt(MessageStand.SIZE));
                    Stage.failingAny(() -> connection.receive(stage.patience()).close(),
                            DisconnectedException.class, WorkCompletionException.class);
                }
            });
        }
    };

    /** What the client does before the connection is used as if nothing had happened. */
    @FunctionalInterface
    private interface Trouble {
        void with(Connection connection) throws Exception;
    }

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        run(stage, MessageStand.of(stage), random);
        stage.tally().survived(toString());
    }

    abstract void run(Stage stage, MessageStand stand, RandomGenerator random) throws Exception;

    private static void withEcho(Stage stage, MessageStand stand, Trouble trouble) throws Exception {
        stage.together(() -> {
            try (Connection connection = stand.accept(stage)) {
                Messages.echo(stage, connection, 1, 1);
                Messages.end(stage, connection, false);
            }
        }, () -> {
            try (Connection connection = stand.connect(stage)) {
                trouble.with(connection);
                Messages.send(stage, connection, 1, MessageStand.SIZE);
                Messages.receive(stage, connection, 1);
                Messages.end(stage, connection, true);
            }
        });
    }

    @Override
    public String toString() {
        return "message-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
