// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.connection.OperationHandler;
import io.rdmacm.core.connection.OperationQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/**
 * The client of messages or reads without copying: a loop calls the handler of each, which starts the next, so that
 * the same number is always in flight.
 */
final class OperationStream extends ConnectionTask {
    private MemoryRegion region;
    private RemoteMemory remote;

    OperationStream(Trial trial, int warmUp) throws IOException {
        super(trial, true, warmUp, null, true);
    }

    @Override
    void connected() throws IOException, InterruptedException {
        region = connection().protectionDomain().allocate(trial().size(), AccessFlag.LOCAL_WRITE);
        if (trial().pattern() == Trial.Pattern.READS) {
            try (Message target = connection().receive(LIMIT)) {
                remote = RemoteMemory.decode(target.toArray());
            }
        }
    }

    @Override
    public String run() throws IOException, InterruptedException {
        if (warmUp() > 0) {
            new Flight(warmUp()).run();
        }
        return Outcome.Throughput.of(trial().iterations(), new Flight(trial().iterations()).run()).encode();
    }

    @Override
    void release() throws IOException {
        if (region != null) {
            region.close();
        }
    }

    /** Operations, some of which are in flight at a time. */
    private final class Flight implements OperationHandler {
        private final Finish end = new Finish();
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
            started = Math.min(trial().depth(), count);
            int first = started;
            long start = System.nanoTime();
            connection().queue().batch(() -> {
                for (int i = 0; i < first; i++) {
                    start();
                }
            });
            end.await();
            return finished - start;
        }

        private void start() {
            try {
                OperationQueue queue = connection().queue();
                boolean room = trial().pattern() == Trial.Pattern.READS
                        ? queue.read(region, 0, trial().size(), remote, 0, this, 0)
                        : queue.send(region, 0, trial().size(), this, 0);
                if (!room) {
                    end.failed(new IllegalStateException("no room for " + trial().depth() + " operations"));
                }
            } catch (RdmaException | RuntimeException e) {
                end.failed(e);
            }
        }

        @Override
        public void completed(Connection connection, long context, RdmaException failure) {
            if (failure != null) {
                end.failed(failure);
                return;
            }
            if (done == 0) {
                allocation().start();
            }
            done++;
            if (started < count) {
                started++;
                start();
            }
            if (done == count) {
                finished = System.nanoTime();
                allocation().end(Math.max(1, count - 1));
                end.reached();
            }
        }
    }
}
