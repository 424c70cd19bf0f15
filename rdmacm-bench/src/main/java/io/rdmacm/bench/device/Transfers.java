// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.End.Load;
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
abstract sealed class Transfers implements ConnectionWork {
    final Load load;
    final Allocation allocation = new Allocation();
    MemoryRegion region;

    private Transfers(Load load) {
        this.load = load;
    }

    @Override
    public void connected(Connection connection) throws IOException, InterruptedException {
        region = connection.protectionDomain().allocate(load.size(), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    Outcome outcome(long nanos) {
        return allocation.with(Outcome.throughput(load.iterations(), load.size(), nanos));
    }

    @Override
    public void close() throws IOException {
        if (region != null) {
            region.close();
        }
    }

    /** With {@link Connection#send}, which copies all but large messages, and {@link Connection#receive}. */
    static final class Messages extends Transfers {
        private final boolean client;
        private final boolean large;
        private final MemorySegment data;

        Messages(Load load, boolean client, boolean large) {
            super(load);
            this.client = client;
            this.large = large;
            this.data = Arena.ofAuto().allocate(load.size());
        }

        @Override
        public Outcome run(Connection connection) throws IOException, InterruptedException {
            if (!client) {
                for (int i = 0; i < load.total(); i++) {
                    connection.receive(ConnectionEnd.LIMIT).close();
                }
                return null;
            }
            send(connection, load.warmUp());
            allocation.start();
            long start = System.nanoTime();
            send(connection, load.iterations());
            long nanos = System.nanoTime() - start;
            allocation.end(load.iterations());
            return outcome(nanos);
        }

        /** Sends messages, and waits until the last one has arrived. */
        private void send(Connection connection, int count) throws IOException, InterruptedException {
            for (int i = 1; i <= count; i++) {
                if (large || i == count) {
                    // this one is waited for, because it is not copied
                    connection.send(region, 0, load.size(), ConnectionEnd.LIMIT);
                } else {
                    connection.send(data, ConnectionEnd.LIMIT);
                }
            }
        }
    }

    /** The server of messages: a handler counts them, in the thread of a loop. */
    static final class Count extends Transfers implements ConnectionHandler {
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private int missing;

        Count(Load load) {
            super(load);
            missing = load.total();
        }

        @Override
        public Outcome run(Connection connection) throws IOException, InterruptedException {
            ConnectionEnd.await(end);
            return null;
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            missing--;
            if (missing == 0) {
                end.complete(null);
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            end.completeExceptionally(reason);
        }
    }

    /** The server of reads: tells the client what to read, and does nothing while it is read. */
    static final class Target extends Transfers {
        Target(Load load) {
            super(load);
        }

        @Override
        public void connected(Connection connection) throws IOException, InterruptedException {
            super.connected(connection);
            connection.send(region.remoteMemory().encode(), ConnectionEnd.LIMIT);
        }

        @Override
        public Outcome run(Connection connection) {
            return null;
        }
    }

    /**
     * The client of messages or reads without copying: a loop calls the handler of each, which starts the next, so that
     * the same number is always in flight.
     */
    static final class Operations extends Transfers {
        private final int depth;
        private final boolean reads;
        private RemoteMemory remote;

        Operations(Load load, int depth, boolean reads) {
            super(load);
            this.depth = depth;
            this.reads = reads;
        }

        @Override
        public boolean loop() {
            return true;
        }

        @Override
        public void connected(Connection connection) throws IOException, InterruptedException {
            super.connected(connection);
            if (reads) {
                try (Message target = connection.receive(ConnectionEnd.LIMIT)) {
                    remote = RemoteMemory.decode(target.toArray());
                }
            }
        }

        @Override
        public Outcome run(Connection connection) throws IOException, InterruptedException {
            if (load.warmUp() > 0) {
                new Flight(connection, load.warmUp()).run();
            }
            return outcome(new Flight(connection, load.iterations()).run());
        }

        /** Operations, some of which are in flight at a time. */
        private final class Flight implements OperationHandler {
            private final CompletableFuture<Void> end = new CompletableFuture<>();
            private final Connection connection;
            private final int count;
            // before the first operation completes, then in handlers only
            private int started;
            private int done;
            private long finished;

            Flight(Connection connection, int count) {
                this.connection = connection;
                this.count = count;
            }

            /** Runs all of them and returns the time in nanoseconds. */
            long run() throws IOException, InterruptedException {
                started = Math.min(depth, count);
                int first = started;
                long start = System.nanoTime();
                connection.queue().batch(() -> {
                    for (int i = 0; i < first; i++) {
                        start();
                    }
                });
                ConnectionEnd.await(end);
                return finished - start;
            }

            private void start() {
                try {
                    boolean room = reads ? connection.queue().read(region, 0, load.size(), remote, 0, this, 0)
                            : connection.queue().send(region, 0, load.size(), this, 0);
                    if (!room) {
                        end.completeExceptionally(new IllegalStateException("no room for " + depth + " operations"));
                    }
                } catch (RdmaException | RuntimeException e) {
                    end.completeExceptionally(e);
                }
            }

            @Override
            public void completed(Connection on, long context, RdmaException failure) {
                if (failure != null) {
                    end.completeExceptionally(failure);
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
                    end.complete(null);
                }
            }
        }
    }
}
