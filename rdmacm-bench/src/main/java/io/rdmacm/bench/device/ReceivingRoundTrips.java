// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;

/** Round trips with {@link Connection#send} and {@link Connection#receive}. */
final class ReceivingRoundTrips extends ConnectionTask {
    ReceivingRoundTrips(Trial trial, boolean client, int warmUp) throws IOException {
        super(trial, client, warmUp, null, false);
    }

    @Override
    public String run() throws IOException, InterruptedException {
        return isClient() ? ask() : answer();
    }

    private String ask() throws IOException, InterruptedException {
        MemorySegment data = Arena.ofAuto().allocate(trial().size());
        long[] times = new long[total() + 1];
        for (int i = 0; i < times.length - 1; i++) {
            if (i == warmUp()) {
                allocation().start();
            }
            times[i] = System.nanoTime();
            connection().send(data, LIMIT);
            connection().receive(LIMIT).close();
        }
        times[total()] = System.nanoTime();
        allocation().end(trial().iterations());
        return Outcome.Latencies.between(times, warmUp(), 1).encode();
    }

    private String answer() throws IOException, InterruptedException {
        for (int i = 0; i < total(); i++) {
            try (Message message = connection().receive(LIMIT)) {
                connection().send(message.memory(), LIMIT);
            }
        }
        return PeerTask.DONE;
    }
}
