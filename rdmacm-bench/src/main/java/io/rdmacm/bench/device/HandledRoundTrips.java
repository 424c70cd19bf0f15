// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** Round trips in handlers, in the thread of a loop: each message is answered by the handler that is given it. */
final class HandledRoundTrips extends ConnectionTask {
    private final Talk talk;

    private HandledRoundTrips(Trial trial, boolean client, int warmUp, Talk talk) throws IOException {
        super(trial, client, warmUp, talk, true);
        this.talk = talk;
        talk.task = this;
    }

    static HandledRoundTrips open(Trial trial, boolean client, int warmUp) throws IOException {
        return new HandledRoundTrips(trial, client, warmUp,
                new Talk(trial.size(), warmUp + trial.iterations(), client, warmUp));
    }

    @Override
    public String run() throws IOException, InterruptedException {
        if (isClient()) {
            talk.times[0] = System.nanoTime();
            talk.send(connection(), talk.data);
        }
        talk.end.await();
        return isClient() ? Outcome.Latencies.between(talk.times, warmUp(), 1).encode() : PeerTask.DONE;
    }

    /** The handler of either side. */
    private static final class Talk implements ConnectionHandler {
        private final Finish end = new Finish();
        private final MemorySegment data;
        private final int total;
        private final boolean client;
        private final int warmUp;
        private final long[] times;
        // set before the connection exists
        private HandledRoundTrips task;
        private int received;

        Talk(int size, int total, boolean client, int warmUp) {
            this.data = Arena.ofAuto().allocate(size);
            this.total = total;
            this.client = client;
            this.warmUp = warmUp;
            this.times = new long[total + 1];
        }

        private void send(Connection connection, MemorySegment message) throws RdmaException {
            if (!connection.queue().send(message)) {
                throw new IllegalStateException("no room for one message");
            }
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            try {
                received++;
                if (client) {
                    next(connection);
                } else {
                    send(connection, message.memory());
                    if (received == total) {
                        end.reached();
                    }
                }
            } catch (RdmaException | RuntimeException e) {
                end.failed(e);
            }
        }

        private void next(Connection connection) throws RdmaException {
            times[received] = System.nanoTime();
            if (received == warmUp + 1) {
                task.allocation().start();
            }
            if (received < total) {
                send(connection, data);
            } else {
                task.allocation().end(Math.max(1, total - warmUp - 1));
                end.reached();
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            end.failed(reason);
        }
    }
}
