// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import io.rdmacm.verbs.WorkCompletions;

/** One operation at a time, step by step as the latency tests of perftest do it; each send is waited for. */
final class LatencyLoop {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final End end;
    private final Measurement measurement;
    private final boolean client;
    private final Waiting waiting;
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private int toReceive;
    private int counter;

    /**
     * A loop.
     *
     * @param end connected
     * @param client whether it begins; the other one answers
     */
    LatencyLoop(End end, boolean client) {
        this.end = end;
        this.measurement = end.measurement();
        this.client = client;
        this.waiting = new Waiting(measurement.polling());
    }

    /**
     * Runs it.
     *
     * @param count how many operations
     * @return when each of them began, in nanoseconds, and when the last one was over; null for who answers
     */
    long[] run(int count) throws IOException, InterruptedException {
        // those that are posted already are not posted again for the end
        toReceive = Math.max(0, count - end.receives());
        if (!client) {
            answer(count);
            return null;
        }
        long[] times = new long[count + 1];
        for (int i = 0; i < count; i++) {
            times[i] = System.nanoTime();
            operate();
        }
        times[count] = System.nanoTime();
        return times;
    }

    /** One operation with its answer. */
    void operate() throws IOException, InterruptedException {
        switch (measurement.operation()) {
            case SEND -> {
                send();
                receive();
            }
            case WRITE -> {
                counter++;
                write();
                watch();
            }
            default -> send();
        }
    }

    private void answer(int count) throws IOException, InterruptedException {
        if (!measurement.operation().isAnswered()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            answerOne();
        }
    }

    /** The peer's part in an operation that is answered. */
    void answerOne() throws IOException, InterruptedException {
        if (measurement.operation() == Operation.SEND) {
            receive();
            send();
        } else {
            counter++;
            watch();
            write();
        }
    }

    /** From now on every receive that is used is posted again. */
    void endless() {
        toReceive = Integer.MAX_VALUE;
    }

    private void send() throws IOException, InterruptedException {
        end.post();
        waiting.take(end.sent(), completions);
    }

    private void receive() throws IOException, InterruptedException {
        waiting.take(end.received(), completions);
        if (toReceive > 0) {
            toReceive--;
            end.postReceive();
        }
    }

    /** The last byte tells the peer which one it is, for a device writes in order. */
    private void write() throws IOException, InterruptedException {
        MemorySegment memory = end.region().memory();
        BYTE.setOpaque(memory, (long) measurement.size() - 1, (byte) counter);
        send();
    }

    private void watch() throws IOException {
        MemorySegment memory = end.region().memory();
        long offset = end.half() + (long) measurement.size() - 1;
        while ((byte) BYTE.getAcquire(memory, offset) != (byte) counter) {
            waiting.pause();
        }
        waiting.found();
    }
}
