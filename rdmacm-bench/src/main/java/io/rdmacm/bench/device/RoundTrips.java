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
import io.rdmacm.verbs.error.RdmaException;

/** Round trips over a connection. */
abstract sealed class RoundTrips implements ConnectionWork {
    final boolean client;
    final Load load;
    final MemorySegment data;
    final long[] times;
    final Allocation allocation = new Allocation();

    private RoundTrips(Load load, boolean client) {
        this.client = client;
        this.load = load;
        this.data = Arena.ofAuto().allocate(load.size());
        this.times = new long[load.total() + 1];
    }

    Outcome outcome() {
        return client ? allocation.with(Outcome.latencies(times, load.warmUp(), 1)) : null;
    }

    /** With {@link Connection#send} and {@link Connection#receive}. */
    static final class Receiving extends RoundTrips {
        Receiving(Load load, boolean client) {
            super(load, client);
        }

        @Override
        public Outcome run(Connection connection) throws IOException, InterruptedException {
            for (int i = 0; i < load.total(); i++) {
                if (client) {
                    if (i == load.warmUp()) {
                        allocation.start();
                    }
                    times[i] = System.nanoTime();
                    connection.send(data, ConnectionEnd.LIMIT);
                    connection.receive(ConnectionEnd.LIMIT).close();
                } else {
                    try (Message message = connection.receive(ConnectionEnd.LIMIT)) {
                        connection.send(message.memory(), ConnectionEnd.LIMIT);
                    }
                }
            }
            times[load.total()] = System.nanoTime();
            allocation.end(load.iterations());
            return outcome();
        }
    }

    /** In handlers, in the thread of a loop: each message is answered by the handler that is given it. */
    static final class Handled extends RoundTrips implements ConnectionHandler {
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private int received;

        Handled(Load load, boolean client) {
            super(load, client);
        }

        @Override
        public Outcome run(Connection connection) throws IOException, InterruptedException {
            if (client) {
                times[0] = System.nanoTime();
                ConnectionEnd.send(connection, data);
            }
            ConnectionEnd.await(end);
            return outcome();
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            try {
                received++;
                if (client) {
                    next(connection);
                } else {
                    ConnectionEnd.send(connection, message.memory());
                    if (received == load.total()) {
                        end.complete(null);
                    }
                }
            } catch (RdmaException | RuntimeException e) {
                end.completeExceptionally(e);
            }
        }

        private void next(Connection connection) throws RdmaException {
            times[received] = System.nanoTime();
            if (received == load.warmUp() + 1) {
                allocation.start();
            }
            if (received < load.total()) {
                ConnectionEnd.send(connection, data);
            } else {
                allocation.end(load.iterations() - 1);
                end.complete(null);
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            end.completeExceptionally(reason);
        }
    }
}
