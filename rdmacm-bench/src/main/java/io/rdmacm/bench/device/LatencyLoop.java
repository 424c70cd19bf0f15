// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.verbs.WorkCompletions;

/** One operation at a time, in the same steps as the latency tests of perftest; each send is waited for. */
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
     * Creates a loop.
     *
     * @param end the local end, connected
     * @param client whether this side starts; the other side answers
     */
    LatencyLoop(End end, boolean client) {
        this.end = end;
        this.measurement = end.measurement();
        this.client = client;
        this.waiting = new Waiting(measurement.polling());
    }

    /**
     * Runs the loop.
     *
     * @param count the number of operations
     * @return the start time of each operation and the end of the last one, in nanoseconds; null for the server
     */
    long[] run(int count) throws IOException, InterruptedException {
        // the last messages use receives that are already posted
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

    /** Runs one operation with its answer. */
    private void operate() throws IOException, InterruptedException {
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

    /** Runs the server's part of one operation. */
    private void answerOne() throws IOException, InterruptedException {
        if (measurement.operation() == Operation.SEND) {
            receive();
            send();
        } else {
            counter++;
            watch();
            write();
        }
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

    /** Writes with a counter in the last byte, which the peer watches: devices write in order. */
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
        waiting.reset();
    }
}
