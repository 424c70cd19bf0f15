// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;

/**
 * The steps of the latency tests of perftest, one operation at a time, each send waited for; and those of its bandwidth
 * tests, many outstanding operations, each signaled. Whoever runs it ends the process if nothing arrives.
 */
final class PerftestSteps extends VerbsEnd {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final Duration LIMIT = Duration.ofMinutes(2);
    // how many completions perftest polls for at a time
    private static final int BATCH = 16;

    private final int parts;
    private final WorkCompletions completions;
    private int toReceive;
    private int counter;

    /**
     * Creates an end that is not connected yet.
     *
     * @param parts the divisor of latencies: 2 for one way of a round trip
     */
    PerftestSteps(Measurement measurement, Load load, boolean client, int parts) throws Exception {
        super(measurement, load, client);
        this.parts = parts;
        this.completions = WorkCompletions.allocate(measurement.latency() ? 1 : BATCH);
    }

    @Override
    public Outcome run() throws Exception {
        if (measurement.latency()) {
            if (!client) {
                answer(load.total());
                return null;
            }
            return Outcome.latencies(operate(load.total()), load.warmUp(), parts);
        }
        if (client) {
            send(load.warmUp());
            return Outcome.throughput(load.iterations(), load.size(), send(load.iterations()));
        }
        if (measurement.operation() == Measurement.Operation.SEND) {
            receive(load.total());
        }
        return null;
    }

    /** Returns the start time of each operation and the end of the last one, in nanoseconds. */
    private long[] operate(int count) throws IOException, InterruptedException {
        // the last messages use receives that are already posted
        toReceive = Math.max(0, count - receives);
        long[] times = new long[count + 1];
        for (int i = 0; i < count; i++) {
            times[i] = System.nanoTime();
            switch (measurement.operation()) {
                case SEND -> {
                    post();
                    receiveOne();
                }
                case WRITE -> {
                    counter++;
                    write();
                    watch();
                }
                default -> post();
            }
        }
        times[count] = System.nanoTime();
        return times;
    }

    /** Runs the server's part of these operations. */
    private void answer(int count) throws IOException, InterruptedException {
        toReceive = Math.max(0, count - receives);
        for (int i = 0; i < count && measurement.operation().isAnswered(); i++) {
            if (measurement.operation() == Measurement.Operation.SEND) {
                receiveOne();
                post();
            } else {
                counter++;
                watch();
                write();
            }
        }
    }

    private void post() throws IOException, InterruptedException {
        queuePair.postSend(request);
        take(sent);
    }

    private void receiveOne() throws IOException, InterruptedException {
        take(received);
        if (toReceive > 0) {
            toReceive--;
            queuePair.postReceive(receive);
        }
    }

    /** Writes with a counter in the last byte, which the peer watches: devices write in order. */
    private void write() throws IOException, InterruptedException {
        BYTE.setOpaque(region.memory(), load.size() - 1L, (byte) counter);
        post();
    }

    private void watch() {
        MemorySegment memory = region.memory();
        long offset = half + load.size() - 1L;
        while ((byte) BYTE.getAcquire(memory, offset) != (byte) counter) {
            pause();
        }
    }

    /** Sends as many; returns the time in nanoseconds. */
    private long send(int count) throws IOException, InterruptedException {
        int posted = 0;
        int done = 0;
        long start = System.nanoTime();
        while (done < count) {
            while (posted < count && posted - done < measurement.depth()) {
                queuePair.postSend(request);
                posted++;
            }
            done += take(sent);
        }
        return System.nanoTime() - start;
    }

    /** Receives as many. */
    private void receive(int count) throws IOException, InterruptedException {
        int posted = receives;
        for (int done = 0; done < count;) {
            int taken = take(received);
            done += taken;
            for (int i = 0; i < taken && posted < count; i++) {
                queuePair.postReceive(receive);
                posted++;
            }
        }
    }

    /** Waits for completions; returns how many there were, at least one. */
    private int take(CompletionQueue queue) throws IOException, InterruptedException {
        int taken = switch (measurement.polling()) {
            case BUSY, YIELD -> poll(queue);
            case EVENTS -> event(queue);
            case AWAIT -> queue.await(completions, LIMIT);
        };
        while (completions.next()) {
            completions.check();
        }
        return taken;
    }

    private int poll(CompletionQueue queue) throws IOException {
        int taken = queue.poll(completions);
        while (taken == 0) {
            pause();
            taken = queue.poll(completions);
        }
        return taken;
    }

    /** Waits in the steps of perftest; the queue was armed before the first call. */
    private int event(CompletionQueue queue) throws IOException, InterruptedException {
        CompletionChannel channel = queue.channel().orElseThrow();
        int taken = 0;
        while (taken == 0) {
            channel.getEvent(LIMIT);
            queue.requestNotification(false);
            taken = queue.poll(completions);
        }
        return taken;
    }

    private void pause() {
        if (measurement.polling() == Polling.YIELD) {
            Thread.yield();
        }
    }
}
