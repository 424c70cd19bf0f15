// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** Round trips over a connection. */
abstract sealed class RoundTrips extends OneConnection {
    final MemorySegment data;
    final long[] times;
    final Allocation allocation = new Allocation();

    private RoundTrips(ConnectionTrial trial, Load load, boolean client) throws IOException {
        super(trial, load, client);
        this.data = Arena.ofAuto().allocate(load.size());
        this.times = new long[load.total() + 1];
    }

    Outcome outcome() {
        return client ? allocation.with(Outcome.latencies(times, load.warmUp(), 1)) : null;
    }

    /** With {@link Connection#send} and {@link Connection#receive}. */
    static final class Receiving extends RoundTrips {
        Receiving(ConnectionTrial trial, Load load, boolean client) throws IOException {
            super(trial, load, client);
        }

        @Override
        public Outcome run() throws IOException, InterruptedException {
            for (int i = 0; i < load.total(); i++) {
                if (client) {
                    if (i == load.warmUp()) {
                        allocation.start();
                    }
                    times[i] = System.nanoTime();
                    connection.send(data, LIMIT);
                    connection.receive(LIMIT).close();
                } else {
                    try (Message message = connection.receive(LIMIT)) {
                        connection.send(message.memory(), LIMIT);
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
        private int received;

        Handled(ConnectionTrial trial, Load load, boolean client) throws IOException {
            super(trial, load, client);
        }

        @Override
        public Outcome run() throws IOException, InterruptedException {
            if (client) {
                times[0] = System.nanoTime();
                send(connection, data);
            }
            await(end);
            return outcome();
        }

        @Override
        public void onMessage(Connection from, Message message) throws RdmaException {
            received++;
            if (client) {
                next(from);
                return;
            }
            send(from, message.memory());
            if (received == load.total()) {
                end.complete(null);
            }
        }

        private void next(Connection to) throws RdmaException {
            times[received] = System.nanoTime();
            if (received == load.warmUp() + 1) {
                allocation.start();
            }
            if (received < load.total()) {
                send(to, data);
            } else {
                allocation.end(load.iterations() - 1);
                end.complete(null);
            }
        }
    }
}
