// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.verbs.error.RdmaException;

/** Two connected ends of one device in this process; a thread answers on the far end. */
final class LocalPair implements AutoCloseable {
    private final End near;
    private final End far;
    private final LatencyLoop loop;
    private Thread answering;

    /**
     * Creates a connected pair.
     *
     * @param measurement the measurement
     * @param messages the maximum number of messages that each end receives
     */
    LocalPair(Measurement measurement, int messages) throws Exception {
        near = new End(measurement, messages);
        boolean made = false;
        try {
            far = new End(measurement, messages);
            made = true;
        } finally {
            if (!made) {
                near.close();
            }
        }
        near.connect(far.address());
        far.connect(near.address());
        loop = new LatencyLoop(near, true);
        loop.endless();
        if (measurement.operation().isAnswered()) {
            answering = Thread.ofPlatform().daemon().start(this::answer);
        }
    }

    private void answer() {
        LatencyLoop other = new LatencyLoop(far, false);
        other.endless();
        try {
            while (true) {
                other.answerOne();
            }
        } catch (IOException | InterruptedException | IllegalStateException e) {
            // the pair was closed
        }
    }

    /** Runs one operation with its answer. */
    void operate() throws IOException, InterruptedException {
        loop.operate();
    }

    @Override
    public void close() throws RdmaException {
        near.close();
        try {
            if (answering != null) {
                answering.interrupt();
                // The thread may be polling; closing its queues ends that.
                far.close();
                answering.join();
            } else {
                far.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
