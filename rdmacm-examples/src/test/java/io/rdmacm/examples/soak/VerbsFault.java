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

/** What goes wrong with a connection made by hand. */
enum VerbsFault implements Act {
    /** A write by a key that is none: nothing is written. */
    WRONG_KEY {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                MemoryRegion target = pair.server().region();
                refused(pair, target.remoteAddress() + Side.HALF, target.remoteKey() ^ (1 + random.nextInt(255)));
            }
        }
    },
    /** A write that begins or ends outside the region: nothing is written. */
    OUT_OF_BOUNDS {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                MemoryRegion target = pair.server().region();
                long beyond = 1 + random.nextInt(Payload.HEADER);
                refused(pair, target.remoteAddress()
                        + (random.nextBoolean() ? -beyond : target.length() - Payload.HEADER + beyond),
                        target.remoteKey());
            }
        }
    },
    /** There is no receive, and few retries. */
    NOT_READY {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            ConnectionParameters impatient = ConnectionParameters.builder().rnrRetryCount(random.nextInt(2)).build();
            try (Pair pair = Pair.connect(stage, random, random.nextBoolean(), impatient)) {
                Operation.SEND.post(pair.client(), 1, Operation.Target.of(0), 0, Payload.HEADER);
                expect(pair.client(), WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            }
        }
    },
    /** A message that is longer than the receive. */
    TOO_LONG {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random, false, ConnectionParameters.defaults())) {
                pair.server().postReceive(1, Payload.HEADER);
                Operation.SEND.post(pair.client(), 1, Operation.Target.of(0), 0, 2 * Payload.HEADER);
                // which of the two depends on the device
                expect(pair.client(), WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.REM_OP_ERR);
            }
        }
    },
    /** The server closes while sends are on their way: each of them completes. */
    CLOSED_BY_PEER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(Side.DEPTH);
            int received = random.nextInt(count + 1);
            try (Pair pair = Pair.connect(stage, random)) {
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
    /** The queue pair is put into the error state: what is posted completes. */
    ERROR_STATE {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            int count = 1 + random.nextInt(Side.DEPTH);
            try (Pair pair = Pair.connect(stage, random, false, ConnectionParameters.defaults())) {
                for (int i = 0; i < count; i++) {
                    pair.server().postReceive(i, Payload.HEADER);
                }
                pair.server().pair().modifyToError();
                flushed(pair.server(), count);
            }
        }
    },
    /** The thread that waits for a completion is interrupted; the connection is as good as before. */
    INTERRUPTED {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                Future<Void> interrupting = stage.interruptSoon(random);
                Stage.failing(InterruptedException.class, () -> pair.server().completion());
                stage.result(interrupting);
                for (Operation operation : Operation.values()) {
                    Transfers.run(stage, operation, pair.client(), pair.server(), random);
                }
            }
        }
    },
    /** Another thread closes all that is waited on. */
    CLOSED_BY_ANOTHER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                Future<Void> closing = stage.soon(random, pair.server()::close);
                // before the wait has begun it is a use after close
                Stage.failingAny(() -> pair.server().completion(), RdmaClosedException.class,
                        IllegalStateException.class);
                stage.result(closing);
            }
        }
    },
    /** Two threads close the same things, while a third one posts. */
    CLOSED_TWICE {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                Future<Void> one = stage.soon(random, pair.client().pair()::close);
                Future<Void> other = stage.soon(random, pair.client().pair()::close);
                Stage.failing(IllegalStateException.class, () -> {
                    while (true) {
                        MemoryRegion target = pair.server().region();
                        Operation.WRITE.post(pair.client(), 1, Operation.Target.of(target.remoteAddress(),
                                target.remoteKey(), 0), 0, Payload.HEADER);
                        pair.client().success(1);
                    }
                });
                stage.result(one);
                stage.result(other);
            }
        }
    },
    /** Things are closed in the wrong order, which is refused, and changes nothing. */
    WRONG_ORDER {
        @Override
        void run(Stage stage, RandomGenerator random) throws Exception {
            try (Pair pair = Pair.connect(stage, random)) {
                Stage.failing(IllegalStateException.class, pair.server().domain()::close);
                Stage.failing(IllegalStateException.class, pair.server().queue()::close);
                Stage.failing(IllegalStateException.class, pair.server().id()::close);
                for (Operation operation : Operation.values()) {
                    Transfers.run(stage, operation, pair.client(), pair.server(), random);
                }
            }
        }
    };

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        run(stage, random);
        stage.tally().survived(toString());
    }

    abstract void run(Stage stage, RandomGenerator random) throws Exception;

    /** A write that must not be done. */
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

    /** All of so many requests complete, in their order, the first ones perhaps well. */
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
