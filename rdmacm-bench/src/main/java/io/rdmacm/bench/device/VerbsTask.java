// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.machine.PeerAddress;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;

/** A measurement over queue pairs, in the steps of perftest. */
final class VerbsTask implements PeerTask {
    private final End end;
    private final boolean client;
    private final int warmUp;

    VerbsTask(Measurement measurement, boolean client, int warmUp) throws Exception {
        this.end = new End(measurement, warmUp + measurement.iterations());
        this.client = client;
        this.warmUp = warmUp;
    }

    @Override
    public String address() {
        return end.address().encode();
    }

    @Override
    public void connect(String peer) throws IOException {
        end.connect(PeerAddress.parse(peer));
    }

    @Override
    public String run() throws IOException, InterruptedException {
        Measurement measurement = end.measurement();
        int count = measurement.iterations();
        if (measurement.figure() == Measurement.Figure.LATENCY) {
            long[] times = new LatencyLoop(end, client).run(warmUp + count);
            int parts = measurement.operation().isAnswered() ? 2 : 1;
            return times == null ? PeerTask.DONE : Outcome.Latencies.between(times, warmUp, parts).encode();
        }
        BandwidthLoop loop = new BandwidthLoop(end);
        if (client) {
            if (warmUp > 0) {
                loop.send(warmUp);
            }
            return Outcome.Throughput.of(count, loop.send(count)).encode();
        }
        if (measurement.operation() == Operation.SEND) {
            loop.receive(warmUp + count);
        }
        return PeerTask.DONE;
    }

    @Override
    public double allocated() {
        return -1;
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
