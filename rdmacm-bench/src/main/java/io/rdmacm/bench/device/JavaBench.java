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
 * The Java side: two processes, as with perftest. They are kept for all measurements, so that compiled code is
 * measured; a warm-up precedes the first measurement of each kind.
 */
final class JavaBench implements Bench {
    private final Cpus cpus;
    private final int warmUp;
    private final Set<String> warm = new HashSet<>();
    private PeerProcess server;
    private PeerProcess client;

    /**
     * Prepares the two processes, which are started when they are needed.
     *
     * @param cpus the CPUs to run on
     * @param warmUp the number of operations before the first measurement of each kind
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
                // one process may be waiting for the other
                close();
            }
        }
    }

    /** {@return the server's process} */
    PeerProcess server() throws IOException {
        if (server == null) {
            server = new PeerProcess(cpus.server());
        }
        return server;
    }

    /** {@return the client's process} */
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

    /** Warms up with small messages, as only the code has to be warm. */
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
        server().send("open server " + what);
        client().send("open client " + what);
        String serverAddress = server.receive("address");
        String clientAddress = client.receive("address");
        server.send("connect " + clientAddress);
        client.send("connect " + serverAddress);
        server.receive("ready");
        client.receive("ready");
        server.send("run");
        client.send("run");
        Outcome outcome = measurement.figure() == Measurement.Figure.LATENCY
                ? new Outcome.Latencies(decode(client.receive("latencies")))
                : new Outcome.Throughput(Double.parseDouble(client.receive("throughput")));
        server.receive("done");
        for (PeerProcess peer : List.of(client, server)) {
            peer.send("close");
            peer.receive("closed");
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
