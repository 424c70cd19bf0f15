// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.HexFormat;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;

/** One end of a {@link StreamTrial}, in the steps of {@code rstream}. */
public final class StreamTask implements PeerTask {
    private static final int SYNC = 16;

    private final StreamTrial trial;
    private final boolean client;
    private final int warmUp;
    private final StreamEnd end;
    private final Allocation allocation = new Allocation();

    /** Opens one end. */
    public StreamTask(StreamTrial trial, boolean client, int warmUp) throws IOException {
        this.trial = trial;
        this.client = client;
        this.warmUp = warmUp;
        this.end = trial.way().open(trial, client, Math.max(SYNC, trial.size()));
    }

    @Override
    public String address() throws IOException {
        return HexFormat.of().formatHex(end.address());
    }

    @Override
    public void connect(String peer) throws IOException {
        end.connect(HexFormat.of().parseHex(peer));
    }

    @Override
    public String run() throws IOException {
        if (warmUp > 0) {
            end.exchange(warmUp, 1, trial.size(), allocation);
        }
        end.exchange(1, 1, SYNC, allocation);
        long start = System.nanoTime();
        end.exchange(trial.iterations(), trial.count(), trial.size(), allocation);
        long nanos = System.nanoTime() - start;
        int transfers = trial.iterations() * trial.count();
        // rstream tells the mean only, so the same is taken here: round trips, or transfers in both directions
        return client ? Outcome.Throughput.of(trial.isLatency() ? transfers : 2 * transfers, nanos).encode()
                : PeerTask.DONE;
    }

    @Override
    public double allocated() {
        return allocation.each();
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
