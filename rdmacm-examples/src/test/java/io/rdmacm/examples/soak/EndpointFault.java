// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.RejectedException;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** What goes wrong with an endpoint. */
enum EndpointFault implements Act {
    /** The server does not want it. */
    REJECTED {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            byte[] reason = new byte[1 + random.nextInt(148)];
            random.nextBytes(reason);
            withPeer(stage, server -> server.reject(reason), client -> {
                RejectedException e = Stage.failing(RejectedException.class,
                        () -> EndpointStand.connect(stage, client));
                LossException.unless(Arrays.equals(Arrays.copyOf(e.privateData(), reason.length), reason),
                        "the reason of a rejection has changed on its way");
            });
        }
    },
    /** The server closes instead of answering. */
    DROPPED {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            withPeer(stage, Endpoint::close, client -> Stage.failing(RejectedException.class,
                    () -> EndpointStand.connect(stage, client)));
        }
    },
    /** The client gives up before the server answers. */
    NO_ANSWER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            EndpointStand stand = EndpointStand.of(stage);
            try (Endpoint client = stand.client(stage)) {
                Duration little = Duration.ofMillis(random.nextInt(20));
                Stage.failing(RdmaTimeoutException.class,
                        () -> client.connect(ConnectionParameters.defaults(), little));
            }
            // The request is there all the same, but nobody behind it.
            Stage.failing(RdmaException.class, () -> {
                try (Endpoint server = stand.listener().getRequest(stage.patience())) {
                    server.accept(ConnectionParameters.defaults(), stage.patience());
                }
            });
        }
    },
    /** The server says nothing for longer than the client waits; the next wait is as good as the first. */
    SILENCE {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(random.nextInt(20));
            connected(stage, client -> Stage.failing(RdmaTimeoutException.class,
                    () -> client.getReceiveCompletion(little)));
        }
    },
    /** The client's thread is interrupted while it waits. */
    INTERRUPTED {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            connected(stage, client -> {
                Future<Void> interrupting = stage.interruptSoon(random);
                Stage.failing(InterruptedException.class, () -> client.getReceiveCompletion(stage.patience()));
                stage.result(interrupting);
            });
        }
    },
    /** Another thread closes the endpoint that is waited on. */
    CLOSED_BY_ANOTHER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            connected(stage, client -> {
                Future<Void> closing = stage.soon(random, client::close);
                // before the wait has begun it is a use after close
                Stage.failingAny(() -> client.getReceiveCompletion(stage.patience()), RdmaClosedException.class,
                        IllegalStateException.class);
                stage.result(closing);
            });
        }
    },
    /** The server closes while sends are on their way: each of them completes, and then there is no more. */
    CLOSED_BY_PEER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(16);
            withPeer(stage, server -> server.accept(ConnectionParameters.defaults(), stage.patience()), client -> {
                try (Arena arena = Arena.ofShared(); client) {
                    MemorySegment memory = arena.allocate(1 << 10);
                    MemoryRegion region = client.registerMessages(memory);
                    EndpointStand.connect(stage, client);
                    for (int i = 0; i < count; i++) {
                        client.postSend(i, region, 0, 1 << 10, Set.of(SendFlag.SIGNALED));
                    }
                    for (int i = 0; i < count; i++) {
                        WorkCompletion done = client.getSendCompletion(stage.patience());
                        LossException.unless(done.workRequestId() == i, "completion %d instead of %d",
                                done.workRequestId(), i);
                        LossException.unless(done.status() != WorkCompletionStatus.SUCCESS, "a send to nobody");
                    }
                    Stage.failing(DisconnectedException.class, () -> client.getSendCompletion(stage.patience()));
                }
            });
        }
    };

    /** What one side does with its endpoint. */
    @FunctionalInterface
    interface Role {
        void play(Endpoint endpoint) throws Exception;
    }

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        run(stage, random);
        stage.tally().survived(toString());
    }

    abstract void run(Stage stage, RandomGenerator random) throws Exception;

    /** A request for a connection, and what both sides make of it. */
    static void withPeer(Stage stage, Role server, Role client) throws Exception {
        EndpointStand stand = EndpointStand.of(stage);
        stage.together(() -> {
            try (Endpoint endpoint = stand.listener().getRequest(stage.patience())) {
                server.play(endpoint);
            }
        }, () -> {
            try (Endpoint endpoint = stand.client(stage)) {
                client.play(endpoint);
            }
        });
    }

    /** A connection that the server keeps until the client leaves. */
    static void connected(Stage stage, Role client) throws Exception {
        withPeer(stage, server -> {
            server.accept(ConnectionParameters.defaults(), stage.patience());
            Stage.failing(DisconnectedException.class, () -> server.getReceiveCompletion(stage.patience()));
        }, endpoint -> {
            EndpointStand.connect(stage, endpoint);
            client.play(endpoint);
        });
    }

    @Override
    public String toString() {
        return "endpoint-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
