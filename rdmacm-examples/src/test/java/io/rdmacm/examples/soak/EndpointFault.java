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

/** Faults of endpoints. */
enum EndpointFault implements Scenario {
    /** The server rejects the connection. */
    REJECTED {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            byte[] reason = new byte[1 + random.nextInt(148)];
            random.nextBytes(reason);
            withPeer(worker, server -> server.reject(reason), client -> {
                RejectedException e = Expect.failure(RejectedException.class,
                        () -> EndpointFixture.connect(worker, client));
                LossException.unless(Arrays.equals(Arrays.copyOf(e.privateData(), reason.length), reason),
                        "the reason of a rejection has changed on its way");
            });
        }
    },
    /** The server closes instead of answering. */
    DROPPED {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            withPeer(worker, Endpoint::close, client -> Expect.failure(RejectedException.class,
                    () -> EndpointFixture.connect(worker, client)));
        }
    },
    /** The client gives up before the server answers. */
    NO_ANSWER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            EndpointFixture fixture = EndpointFixture.of(worker);
            try (Endpoint client = fixture.client(worker)) {
                Duration little = Duration.ofMillis(random.nextInt(20));
                Expect.failure(RdmaTimeoutException.class,
                        () -> client.connect(ConnectionParameters.defaults(), little));
            }
            // The server still sees the request, but the client has gone.
            Expect.failure(RdmaException.class, () -> {
                try (Endpoint server = fixture.listener().getRequest(worker.timeout())) {
                    server.accept(ConnectionParameters.defaults(), worker.timeout());
                }
            });
        }
    },
    /** A wait for a message times out. */
    SILENCE {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            Duration little = Duration.ofMillis(random.nextInt(20));
            connected(worker, client -> Expect.failure(RdmaTimeoutException.class,
                    () -> client.getReceiveCompletion(little)));
        }
    },
    /** The client's thread is interrupted while it waits. */
    INTERRUPTED {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            connected(worker, client -> {
                Future<Void> interrupting = worker.interruptSoon(random);
                Expect.failure(InterruptedException.class, () -> client.getReceiveCompletion(worker.timeout()));
                worker.join(interrupting);
            });
        }
    },
    /** Another thread closes the endpoint while this one waits for a message. */
    CLOSED_BY_ANOTHER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            connected(worker, client -> {
                Future<Void> closing = worker.runSoon(random, client::close);
                // IllegalStateException if the close came before the wait
                Expect.failureOf(() -> client.getReceiveCompletion(worker.timeout()), RdmaClosedException.class,
                        IllegalStateException.class);
                worker.join(closing);
            });
        }
    },
    /** The server closes while sends are under way: each of them completes, and then the wait fails. */
    CLOSED_BY_PEER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(16);
            withPeer(worker, server -> server.accept(ConnectionParameters.defaults(), worker.timeout()), client -> {
                try (Arena arena = Arena.ofShared(); client) {
                    MemorySegment memory = arena.allocate(1 << 10);
                    MemoryRegion region = client.registerMessages(memory);
                    EndpointFixture.connect(worker, client);
                    for (int i = 0; i < count; i++) {
                        client.postSend(i, region, 0, 1 << 10, Set.of(SendFlag.SIGNALED));
                    }
                    for (int i = 0; i < count; i++) {
                        WorkCompletion done = client.getSendCompletion(worker.timeout());
                        LossException.unless(done.workRequestId() == i, "completion %d instead of %d",
                                done.workRequestId(), i);
                        LossException.unless(done.status() != WorkCompletionStatus.SUCCESS,
                                "a send succeeded without a receiver");
                    }
                    Expect.failure(DisconnectedException.class, () -> client.getSendCompletion(worker.timeout()));
                }
            });
        }
    };

    /** What one of the sides does with its endpoint. */
    @FunctionalInterface
    interface Role {
        void run(Endpoint endpoint) throws Exception;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        inject(worker, random);
        worker.counters().countFault(toString());
    }

    abstract void inject(Worker worker, RandomGenerator random) throws Exception;

    /** Runs both sides of a connection request. */
    static void withPeer(Worker worker, Role server, Role client) throws Exception {
        EndpointFixture fixture = EndpointFixture.of(worker);
        worker.runBoth(() -> {
            try (Endpoint endpoint = fixture.listener().getRequest(worker.timeout())) {
                server.run(endpoint);
            }
        }, () -> {
            try (Endpoint endpoint = fixture.client(worker)) {
                client.run(endpoint);
            }
        });
    }

    /** Runs the client's side of a connection that the server keeps until the client disconnects. */
    static void connected(Worker worker, Role client) throws Exception {
        withPeer(worker, server -> {
            server.accept(ConnectionParameters.defaults(), worker.timeout());
            Expect.failure(DisconnectedException.class, () -> server.getReceiveCompletion(worker.timeout()));
        }, endpoint -> {
            EndpointFixture.connect(worker, endpoint);
            client.run(endpoint);
        });
    }

    @Override
    public String toString() {
        return "endpoint-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
