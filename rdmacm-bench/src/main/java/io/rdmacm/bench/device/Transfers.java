// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.connection.OperationHandler;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/** Data in one direction over a connection, from or into a region of the client, or of the server of reads. */
abstract sealed class Transfers extends OneConnection {
    final Allocation allocation = new Allocation();
    MemoryRegion region;

    private Transfers(ConnectionTrial trial, Load load, boolean client) throws IOException {
        super(trial, load, client);
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        super.connect(peer);
        region = own(connection.protectionDomain().allocate(load.size(), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ));
    }

    Outcome outcome(long nanos) {
        return allocation.with(Outcome.throughput(load.iterations(), load.size(), nanos));
    }

    /** With {@link Connection#send}, which copies all but large messages, and {@link Connection#receive}. */
    static final class Messages extends Transfers {
        private final boolean large;
        private final MemorySegment data;

        Messages(ConnectionTrial trial, Load load, boolean client) throws IOException {
            super(trial, load, client);
            this.large = trial.pattern() == ConnectionTrial.Pattern.LARGE;
            this.data = Arena.ofAuto().allocate(load.size());
        }

        @Override
        public Outcome run() throws IOException, InterruptedException {
            if (!client) {
                for (int i = 0; i < load.total(); i++) {
                    connection.receive(LIMIT).close();
                }
                return null;
            }
            send(load.warmUp());
            allocation.start();
            long start = System.nanoTime();
            send(load.iterations());
            long nanos = System.nanoTime() - start;
            allocation.end(load.iterations());
            return outcome(nanos);
        }

        /** Sends messages, and waits until the last one has arrived. */
        private void send(int count) throws IOException, InterruptedException {
            for (int i = 1; i <= count; i++) {
                if (large || i == count) {
                    // this one is waited for, because it is not copied
                    connection.send(region, 0, load.size(), LIMIT);
                } else {
                    connection.send(data, LIMIT);
                }
            }
        }
    }

    /** The server of messages: a handler counts them, in the thread of a loop. */
    static final class Count extends Transfers implements ConnectionHandler {
        private int missing;

        Count(ConnectionTrial trial, Load load) throws IOException {
            super(trial, load, false);
            missing = load.total();
        }

        @Override
        public Outcome run() throws IOException, InterruptedException {
            await(end);
            return null;
        }

        @Override
        public void onMessage(Connection from, Message message) {
            missing--;
            if (missing == 0) {
                end.complete(null);
            }
        }
    }

    /** The server of reads: tells the client what to read, and does nothing while it is read. */
    static final class Target extends Transfers {
        Target(ConnectionTrial trial, Load load) throws IOException {
            super(trial, load, false);
        }

        @Override
        public void connect(Serializable peer) throws IOException, InterruptedException {
            super.connect(peer);
            connection.send(region.remoteMemory().encode(), LIMIT);
        }

        @Override
        public Outcome run() {
            return null;
        }
    }

    /**
     * The client of messages or reads without copying: a loop calls the handler of each, which starts the next, so that
     * the same number is always in flight.
     */
    static final class Operations extends Transfers {
        // null for messages
        private RemoteMemory remote;

        Operations(ConnectionTrial trial, Load load) throws IOException {
            super(trial, load, true);
        }

        @Override
        boolean loop() {
            return true;
        }

        @Override
        public void connect(Serializable peer) throws IOException, InterruptedException {
            super.connect(peer);
            if (trial.pattern() == ConnectionTrial.Pattern.READS) {
                try (Message target = connection.receive(LIMIT)) {
                    remote = RemoteMemory.decode(target.toArray());
                }
            }
        }

        @Override
        public Outcome run() throws IOException, InterruptedException {
            if (load.warmUp() > 0) {
                new Flight(load.warmUp()).run();
            }
            return outcome(new Flight(load.iterations()).run());
        }

        /** Operations, some of which are in flight at a time. */
        private final class Flight implements OperationHandler {
            private final CompletableFuture<Void> landed = new CompletableFuture<>();
            private final int count;
            // before the first operation completes, then in handlers only
            private int started;
            private int done;
            private long finished;

            Flight(int count) {
                this.count = count;
            }

            /** Runs all of them and returns the time in nanoseconds. */
            long run() throws IOException, InterruptedException {
                started = Math.min(trial.depth(), count);
                int first = started;
                long start = System.nanoTime();
                connection.queue().batch(() -> {
                    for (int i = 0; i < first; i++) {
                        start();
                    }
                });
                await(landed);
                return finished - start;
            }

            private void start() {
                try {
                    boolean room = remote != null ? connection.queue().read(region, 0, load.size(), remote, 0, this, 0)
                            : connection.queue().send(region, 0, load.size(), this, 0);
                    if (!room) {
                        landed.completeExceptionally(
                                new IllegalStateException("no room for " + trial.depth() + " operations"));
                    }
                } catch (RdmaException | RuntimeException e) {
                    landed.completeExceptionally(e);
                }
            }

            @Override
            public void completed(Connection on, long context, RdmaException failure) {
                if (failure != null) {
                    landed.completeExceptionally(failure);
                    return;
                }
                if (done == 0) {
                    allocation.start();
                }
                done++;
                if (started < count) {
                    started++;
                    start();
                }
                if (done == count) {
                    finished = System.nanoTime();
                    allocation.end(count - 1);
                    landed.complete(null);
                }
            }
        }
    }
}
