// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.HexFormat;

/** One end of a {@link StreamTrial}, in the steps of {@code rstream}. */
final class StreamTask implements PeerTask {
    private static final int SYNC = 16;

    private final StreamTrial trial;
    private final boolean client;
    private final int warmUp;
    private final MessageEnd end;
    private final Allocation allocation = new Allocation();

    StreamTask(StreamTrial trial, boolean client, int warmUp) throws IOException {
        this.trial = trial;
        this.client = client;
        this.warmUp = warmUp;
        this.end = trial.way().open(client, Math.max(SYNC, trial.size()));
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
        repeat(warmUp, 1, trial.size());
        repeat(1, 1, SYNC);
        allocation.start();
        long start = System.nanoTime();
        repeat(trial.iterations(), trial.count(), trial.size());
        long nanos = System.nanoTime() - start;
        int transfers = trial.iterations() * trial.count();
        allocation.end(transfers);
        // rstream tells the mean only, so the same is taken here: round trips, or transfers in both directions
        return client ? Outcome.Throughput.of(trial.isLatency() ? transfers : 2 * transfers, nanos).encode()
                : Peer.DONE;
    }

    private void repeat(int times, int count, int size) throws IOException {
        for (int i = 0; i < times; i++) {
            if (client) {
                end.send(count, size);
                end.receive(count, size);
            } else {
                end.receive(count, size);
                end.send(count, size);
            }
        }
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
