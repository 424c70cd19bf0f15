// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleConsumer;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.bench.report.Side;

/**
 * The Java side: two processes, as with perftest. They are kept for all measurements, so that compiled code is
 * measured; a warm-up precedes the first measurement of each kind.
 */
final class JavaBench implements Bench {
    private static final int SMALL = 64;
    // this part of the operations is done before the measured ones, each time
    private static final int PART = 10;
    // the way through a connection is longer than that through a queue pair
    private static final int WARM_UPS = 5;

    private final Cpus cpus;
    private final int warmUp;
    private final Map<String, String> environment;
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
        this(cpus, warmUp, Map.of());
    }

    /**
     * Prepares two processes with variables of their own.
     *
     * @param cpus the CPUs to run on
     * @param warmUp the number of operations before the first measurement of each kind
     * @param environment the variables, unless they are set
     */
    JavaBench(Cpus cpus, int warmUp, Map<String, String> environment) {
        this.cpus = cpus;
        this.warmUp = warmUp;
        this.environment = environment;
    }

    @Override
    public Side side() {
        return Side.JAVA;
    }

    /** {@return the server's process} */
    PeerProcess server() throws IOException {
        if (server == null) {
            server = new PeerProcess(cpus.server(), environment);
        }
        return server;
    }

    /** {@return the client's process} */
    PeerProcess client() throws IOException {
        if (client == null) {
            client = new PeerProcess(cpus.client(), environment);
        }
        return client;
    }

    /**
     * Runs a trial over connections once.
     *
     * @param trial what to measure
     * @param allocated told the bytes that were allocated for each operation, unless that is unknown
     */
    Outcome run(Trial trial, DoubleConsumer allocated) throws IOException, InterruptedException {
        String kind = switch (trial.way()) {
            case TCP -> "tcp";
            case JUCX -> "jucx";
            default -> "connection";
        };
        return closingOnFailure(() -> {
            if (warmUp > 0 && warm.add(trial.with(0, 0).toString())) {
                measure(kind, trial.with(Math.min(trial.size(), SMALL), WARM_UPS * warmUp).encode(), 0, bytes -> {
                });
            }
            return measure(kind, trial.encode(), trial.iterations() / PART, allocated);
        });
    }

    /**
     * Runs a trial of streams once.
     *
     * @param trial what to measure
     * @param allocated told the bytes that were allocated for each transfer, unless that is unknown
     */
    Outcome run(StreamTrial trial, DoubleConsumer allocated) throws IOException, InterruptedException {
        return closingOnFailure(() -> {
            if (warmUp > 0 && warm.add(trial.with(0, 0).toString())) {
                int times = trial.isLatency() ? WARM_UPS * warmUp : trial.count();
                measure("stream", trial.with(1, times).encode(), 0, bytes -> {
                });
            }
            return measure("stream", trial.encode(), Math.max(1, trial.iterations() / PART), allocated);
        });
    }

    @Override
    public Outcome run(Measurement measurement) throws IOException, InterruptedException {
        return closingOnFailure(() -> {
            warmUp(measurement);
            return measure("verbs", measurement.encode(), Math.min(measurement.iterations() / PART, warmUp),
                    bytes -> {
                    });
        });
    }

    /** A measurement. */
    @FunctionalInterface
    private interface Run {
        Outcome run() throws IOException, InterruptedException;
    }

    private Outcome closingOnFailure(Run run) throws IOException, InterruptedException {
        boolean done = false;
        try {
            Outcome outcome = run.run();
            done = true;
            return outcome;
        } finally {
            if (!done) {
                // one process may be waiting for the other
                close();
            }
        }
    }

    /** Warms up with small messages, as only the code has to be warm. */
    private void warmUp(Measurement measurement) throws IOException, InterruptedException {
        if (warmUp > 0 && warm.add(measurement.name() + measurement.transport() + measurement.polling())) {
            Measurement small = new Measurement(measurement.figure(), measurement.operation(),
                    measurement.transport(), measurement.polling(), Math.min(measurement.size(), SMALL),
                    measurement.depth(), warmUp);
            measure("verbs", small.encode(), 0, bytes -> {
            });
        }
    }

    private Outcome measure(String kind, String what, int before, DoubleConsumer allocated)
            throws IOException, InterruptedException {
        connect(server(), client(), kind, before, what);
        server.send("run");
        client.send("run");
        Outcome outcome = Outcome.parse(client.receiveLine());
        server.receive(PeerTask.DONE);
        client.send("allocated");
        double bytes = Double.parseDouble(client.receive("allocated"));
        if (bytes >= 0) {
            allocated.accept(bytes);
        }
        close(server, client);
        return outcome;
    }

    /** Opens both ends of a task, and connects them. */
    static void connect(PeerProcess server, PeerProcess client, String kind, int before, String what)
            throws IOException, InterruptedException {
        server.send("open " + kind + " server " + before + " " + what);
        String serverAddress = server.receive("address");
        client.send("open " + kind + " client " + before + " " + what);
        String clientAddress = client.receive("address");
        server.send("connect " + clientAddress);
        client.send("connect " + serverAddress);
        server.receive("ready");
        client.receive("ready");
    }

    /** Closes both ends of a task. */
    static void close(PeerProcess server, PeerProcess client) throws IOException, InterruptedException {
        for (PeerProcess peer : List.of(client, server)) {
            peer.send("close");
            peer.receive("closed");
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
