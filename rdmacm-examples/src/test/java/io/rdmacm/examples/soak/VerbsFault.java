// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** Faults of connections of ids and queue pairs. */
enum VerbsFault implements Scenario {
    /** A write with an invalid key: nothing is written. */
    WRONG_KEY {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                MemoryRegion target = pair.server().region();
                refused(pair, target.remoteAddress() + Side.HALF, target.remoteKey() ^ (1 + random.nextInt(255)));
            }
        }
    },
    /** A write that begins or ends outside the region: nothing is written. */
    OUT_OF_BOUNDS {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                MemoryRegion target = pair.server().region();
                long beyond = 1 + random.nextInt(Payload.HEADER);
                refused(pair, target.remoteAddress()
                        + (random.nextBoolean() ? -beyond : target.length() - Payload.HEADER + beyond),
                        target.remoteKey());
            }
        }
    },
    /** A send without a posted receive, with few RNR retries. */
    NOT_READY {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            ConnectionParameters impatient = ConnectionParameters.builder().rnrRetryCount(random.nextInt(2)).build();
            try (Pair pair = Pair.connect(worker, random, random.nextBoolean(), impatient)) {
                Operation.SEND.post(pair.client(), 1, Operation.Target.of(0), 0, Payload.HEADER);
                expect(pair.client(), WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            }
        }
    },
    /** A message that is longer than the receive buffer. */
    TOO_LONG {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random, false, ConnectionParameters.defaults())) {
                pair.server().postReceive(1, Payload.HEADER);
                Operation.SEND.post(pair.client(), 1, Operation.Target.of(0), 0, 2 * Payload.HEADER);
                // the device decides which of the two
                expect(pair.client(), WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.REM_OP_ERR);
            }
        }
    },
    /** The server closes while sends are under way: each of them completes. */
    CLOSED_BY_PEER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(Side.DEPTH);
            int received = random.nextInt(count + 1);
            try (Pair pair = Pair.connect(worker, random)) {
                for (int i = 0; i < received; i++) {
                    pair.server().postReceive(i, Payload.HEADER);
                }
                for (int i = 0; i < count; i++) {
                    Operation.SEND.post(pair.client(), i, Operation.Target.of(0), 0, Payload.HEADER);
                }
                pair.server().close();
                pair.client().id().disconnect();
                flushed(pair.client(), count);
            }
        }
    },
    /** The queue pair is moved to the error state: all posted requests complete. */
    ERROR_STATE {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(Side.DEPTH);
            try (Pair pair = Pair.connect(worker, random, false, ConnectionParameters.defaults())) {
                for (int i = 0; i < count; i++) {
                    pair.server().postReceive(i, Payload.HEADER);
                }
                pair.server().pair().modifyToError();
                flushed(pair.server(), count);
            }
        }
    },
    /** The thread that waits for a completion is interrupted; the connection can be used afterwards. */
    INTERRUPTED {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                Future<Void> interrupting = worker.interruptSoon(random);
                Expect.failure(InterruptedException.class, () -> pair.server().completion());
                worker.join(interrupting);
                for (Operation operation : Operation.values()) {
                    Transfers.transfer(worker, operation, pair.client(), pair.server(), random);
                }
            }
        }
    },
    /** Another thread closes the connection while this one waits for a completion. */
    CLOSED_BY_ANOTHER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                Future<Void> closing = worker.runSoon(random, pair.server()::close);
                // IllegalStateException if the close came before the wait
                Expect.failureOf(() -> pair.server().completion(), RdmaClosedException.class,
                        IllegalStateException.class);
                worker.join(closing);
            }
        }
    },
    /** Two threads close the same queue pair while a third one posts to it. */
    CLOSED_TWICE {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                Future<Void> one = worker.runSoon(random, pair.client().pair()::close);
                Future<Void> other = worker.runSoon(random, pair.client().pair()::close);
                Expect.failure(IllegalStateException.class, () -> {
                    while (true) {
                        MemoryRegion target = pair.server().region();
                        Operation.WRITE.post(pair.client(), 1, Operation.Target.of(target.remoteAddress(),
                                target.remoteKey(), 0), 0, Payload.HEADER);
                        pair.client().success(1);
                    }
                });
                worker.join(one);
                worker.join(other);
            }
        }
    },
    /** Objects are closed in the wrong order, which is refused and changes nothing. */
    WRONG_ORDER {
        @Override
        void inject(Worker worker, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(worker, random)) {
                Expect.failure(IllegalStateException.class, pair.server().domain()::close);
                Expect.failure(IllegalStateException.class, pair.server().queue()::close);
                Expect.failure(IllegalStateException.class, pair.server().id()::close);
                for (Operation operation : Operation.values()) {
                    Transfers.transfer(worker, operation, pair.client(), pair.server(), random);
                }
            }
        }
    };

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        inject(worker, random);
        worker.counters().countFault(toString());
    }

    abstract void inject(Worker worker, RandomGenerator random) throws Exception;

    /** Posts a write that must be refused and change nothing. */
    private static void refused(Pair pair, long address, int key) throws Exception {
        Payload.write(pair.server().region().memory(), 1);
        Payload.write(pair.client().region().memory().asSlice(0, Payload.HEADER), 2);
        Operation.WRITE.post(pair.client(), 1, Operation.Target.of(address, key, 0), 0, Payload.HEADER);
        expect(pair.client(), WorkCompletionStatus.REM_ACCESS_ERR);
        Payload.check(pair.server().region().memory(), 1);
    }

    private static void expect(Side side, WorkCompletionStatus... statuses) throws Exception {
        WorkCompletion done = side.completion();
        LossException.unless(List.of(statuses).contains(done.status()), "%s instead of %s", done,
                Arrays.toString(statuses));
    }

    /** Checks that all requests complete in order, some of the first ones perhaps with success. */
    private static void flushed(Side side, int count) throws Exception {
        boolean well = true;
        for (int i = 0; i < count; i++) {
            WorkCompletion done = side.completion();
            LossException.unless(done.workRequestId() == i, "completion %d instead of %d", done.workRequestId(), i);
            LossException.unless(well || done.status() != WorkCompletionStatus.SUCCESS, "a success after a failure");
            well = done.status() == WorkCompletionStatus.SUCCESS;
        }
    }

    @Override
    public String toString() {
        return "verbs-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
