// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.report.Summary;

/**
 * One end of a stream of bytes, in the steps of {@code rstream}: one side sends some transfers, and the other one sends
 * as many back; one for round trips, all for a throughput.
 */
abstract class StreamEnd extends End {
    private static final int SYNC = 16;
    private static final double NANOS_PER_MICRO = 1000;

    final int largest;
    private final boolean roundTrips;
    private final Allocation allocation = new Allocation();

    StreamEnd(Load load, boolean client, boolean roundTrips) {
        super(load, client);
        this.roundTrips = roundTrips;
        this.largest = Math.max(SYNC, load.size());
    }

    @Override
    public Outcome run() throws IOException, InterruptedException {
        if (load.warmUp() > 0) {
            exchange(load.warmUp(), 1, load.size(), allocation);
        }
        exchange(1, 1, SYNC, allocation);
        int count = load.iterations();
        long start = System.nanoTime();
        exchange(roundTrips ? count : 1, roundTrips ? 1 : count, load.size(), allocation);
        long nanos = System.nanoTime() - start;
        // rstream tells the mean only, so the same is taken here: of round trips, or of transfers in both directions
        return client ? allocation.with(roundTrips
                ? Outcome.none().and(Summary.TIME, Outcome.MICROS, nanos / NANOS_PER_MICRO / count)
                : Outcome.throughput(2 * count, load.size(), nanos)) : null;
    }

    /**
     * Sends some messages and then receives as many, or on a server the other way round, again and again.
     *
     * @param times how often, at least once
     * @param count how many messages in each direction
     * @param size the size of each in bytes
     * @param allocated counts what the thread at work allocates for each message
     */
    abstract void exchange(int times, int count, int size, Allocation allocated)
            throws IOException, InterruptedException;
}
