// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.DataFormatException;

import io.rdmacm.bench.report.Side;
import org.HdrHistogram.Histogram;

/**
 * The Java side: two processes, as perftest has them. They stay for all measurements, so that what is measured is code
 * that has been compiled; the first measurement of each kind warms it up.
 */
final class JavaBench implements Bench {
    private final Cpus cpus;
    private final int warmUp;
    private final Set<String> warm = new HashSet<>();
    private PeerProcess server;
    private PeerProcess client;

    /**
     * The two processes, not started yet.
     *
     * @param cpus where they run
     * @param warmUp how many operations come before the first measurement of each kind
     */
    JavaBench(Cpus cpus, int warmUp) {
        this.cpus = cpus;
        this.warmUp = warmUp;
    }

    @Override
    public Side side() {
        return Side.JAVA;
    }

    @Override
    public Outcome run(Measurement measurement) throws IOException, InterruptedException {
        boolean done = false;
        try {
            Outcome outcome = measure(measurement);
            done = true;
            return outcome;
        } finally {
            if (!done) {
                // one of them may wait for the other
                close();
            }
        }
    }

    /** {@return the process that answers} */
    PeerProcess server() throws IOException {
        if (server == null) {
            server = new PeerProcess(cpus.server());
        }
        return server;
    }

    /** {@return the process that begins} */
    PeerProcess client() throws IOException {
        if (client == null) {
            client = new PeerProcess(cpus.client());
        }
        return client;
    }

    private Outcome measure(Measurement measurement) throws IOException, InterruptedException {
        warmUp(measurement);
        return measure(measurement, Math.min(measurement.iterations() / 10, warmUp));
    }

    /** With small messages, for it is the code that is warmed up. */
    private void warmUp(Measurement measurement) throws IOException, InterruptedException {
        if (warmUp > 0 && warm.add(measurement.name() + measurement.transport() + measurement.polling())) {
            Measurement small = new Measurement(measurement.figure(), measurement.operation(),
                    measurement.transport(), measurement.polling(), Math.min(measurement.size(), 64),
                    measurement.depth(), warmUp);
            measure(small, 0);
        }
    }

    private Outcome measure(Measurement measurement, int before) throws IOException, InterruptedException {
        String what = before + " " + measurement.encode();
        server().tell("open server " + what);
        client().tell("open client " + what);
        String serverAddress = server.hear("address");
        String clientAddress = client.hear("address");
        server.tell("connect " + clientAddress);
        client.tell("connect " + serverAddress);
        server.hear("ready");
        client.hear("ready");
        server.tell("run");
        client.tell("run");
        Outcome outcome = measurement.figure() == Measurement.Figure.LATENCY
                ? new Outcome.Latencies(decode(client.hear("latencies")))
                : new Outcome.Throughput(Double.parseDouble(client.hear("throughput")));
        server.hear("done");
        for (PeerProcess peer : List.of(client, server)) {
            peer.tell("close");
            peer.hear("closed");
        }
        return outcome;
    }

    private static Histogram decode(String text) throws IOException {
        try {
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 1);
        } catch (DataFormatException e) {
            throw new IOException("the client sent no histogram", e);
        }
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
        client = null;
        server = null;
        warm.clear();
    }
}
