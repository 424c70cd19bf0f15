// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bench.device.machine.CPrograms;
import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.report.Side;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.queue.QueuePairType;

/** The C side: {@code ib_send_lat} and the other programs of perftest, each as a server and a client. */
final class Perftest implements Bench {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration START = Duration.ofSeconds(60);
    private static final int PORTS = 18515;
    private static final int PORTS_COUNT = 10_000;
    private static final int POLL_MILLIS = 20;
    private static final String LISTENS = "0A";
    private static final double NANOS_PER_SECOND = 1e9;
    // If the peers share one CPU, perftest often fails to measure the CPU frequency.
    private static final int TRIES = 8;

    private final Port port;
    private final Cpus cpus;
    private final CPrograms programs;
    private final double cyclesPerMicrosecond;

    Perftest(Port port, Cpus cpus, CPrograms programs) throws IOException, InterruptedException {
        this.port = port;
        this.cpus = cpus;
        this.programs = programs;
        this.cyclesPerMicrosecond = programs.cyclesPerMicrosecond();
    }

    /** {@return the name of the program for a measurement} */
    static String program(Measurement measurement) {
        String figure = measurement.figure() == Measurement.Figure.LATENCY ? "lat" : "bw";
        return "ib_" + measurement.operation().id() + "_" + figure;
    }

    @Override
    public Side side() {
        return Side.C;
    }

    @Override
    public Outcome run(Measurement measurement) throws IOException, InterruptedException {
        if (measurement.figure() == Measurement.Figure.LATENCY) {
            return new Outcome.Latencies(PerftestOutput.latencies(execute(measurement), cyclesPerMicrosecond));
        }
        for (int i = 0; i < TRIES; i++) {
            double rate = PerftestOutput.messagesPerSecond(execute(measurement));
            if (rate <= 0) {
                rate = preloadedRate(measurement);
            }
            if (rate > 0) {
                return new Outcome.Throughput(rate);
            }
        }
        throw new IOException(program(measurement) + " could not measure the frequency of the CPU");
    }

    /** Returns the rate that the preloaded library measured; 0 if it is not used. */
    private double preloadedRate(Measurement measurement) throws IOException {
        Path elapsed = programs.elapsed();
        return measurement.polling() == Polling.YIELD && Files.exists(elapsed)
                ? measurement.iterations() * NANOS_PER_SECOND / Long.parseLong(Files.readString(elapsed).strip()) : 0;
    }

    private String execute(Measurement measurement) throws IOException, InterruptedException {
        int tcpPort = PORTS + ThreadLocalRandom.current().nextInt(PORTS_COUNT);
        List<String> options = options(measurement, tcpPort);
        Map<String, String> environment = environment(measurement);
        Map<String, String> ofClient = new HashMap<>(environment);
        ofClient.put("RDMACM_ELAPSED", programs.elapsed().toString());
        Files.deleteIfExists(programs.elapsed());
        List<String> client = command(cpus.client(), options);
        client.add("127.0.0.1");
        Path output = Files.createTempFile("rdmacm-bench", ".server");
        Process server = Commands.start(environment, output, command(cpus.server(), options));
        try {
            awaitListener(server, tcpPort, output);
            String text = Commands.run(LIMIT, ofClient, client);
            server.waitFor(START.toSeconds(), TimeUnit.SECONDS);
            return text;
        } finally {
            server.destroyForcibly().waitFor();
            Files.delete(output);
        }
    }

    private static List<String> command(List<String> prefix, List<String> options) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(options);
        return command;
    }

    private Map<String, String> environment(Measurement measurement) throws IOException, InterruptedException {
        if (measurement.polling() != Polling.YIELD) {
            return Map.of();
        }
        String library = programs.yielding().toString();
        boolean watches = measurement.operation() == Operation.WRITE
                && measurement.figure() == Measurement.Figure.LATENCY;
        return watches ? Map.of("LD_PRELOAD", library, "RDMACM_YIELD_ALWAYS", "1") : Map.of("LD_PRELOAD", library);
    }

    /** Returns the program with its options, without the server's address: the same for both sides. */
    List<String> options(Measurement measurement, int tcpPort) {
        List<String> options = new ArrayList<>(List.of(program(measurement), "-F",
                "-d", port.device().name(), "-i", Integer.toString(port.number()),
                "-m", Integer.toString(port.attributes().activeMtu()),
                "-p", Integer.toString(tcpPort), "-n", Integer.toString(measurement.iterations())));
        if (port.attributes().linkLayer() != LinkLayer.INFINIBAND || port.attributes().globalRouteRequired()) {
            options.addAll(List.of("-x", Integer.toString(port.gid().index())));
        }
        if (measurement.transport() == QueuePairType.UD) {
            options.addAll(List.of("-c", "UD"));
        }
        if (measurement.polling().usesEvents()) {
            options.add("-e");
        }
        switch (measurement.operation()) {
            case SEND, WRITE -> options.addAll(List.of("-I", "0"));
            default -> options.addAll(List.of("-o", Integer.toString(port.reads())));
        }
        if (measurement.operation() != Operation.ATOMIC) {
            options.addAll(List.of("-s", Integer.toString(measurement.size())));
        }
        if (measurement.figure() == Measurement.Figure.LATENCY) {
            options.addAll(List.of("-U", "-C"));
        } else {
            options.addAll(List.of("-N", "-Q", "1", "-t", Integer.toString(measurement.depth())));
            if (measurement.operation() == Operation.SEND) {
                options.addAll(List.of("-r", Integer.toString(measurement.receives(measurement.iterations()))));
            }
        }
        return options;
    }

    /** Waits until the server listens, without connecting: it would take that for the client. */
    private static void awaitListener(Process server, int tcpPort, Path output)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + START.toNanos();
        while (!listens(tcpPort)) {
            if (!server.isAlive() || System.nanoTime() - end > 0) {
                throw new IOException("the server does not listen: " + Files.readString(output).strip());
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private static boolean listens(int tcpPort) throws IOException {
        String local = ":" + HexFormat.of().withUpperCase().toHexDigits((short) tcpPort);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            if (!Files.exists(Path.of(table))) {
                continue;
            }
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] columns = line.strip().split("\\s+");
                if (columns.length > 3 && columns[1].endsWith(local) && columns[3].equals(LISTENS)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public void close() {
        // each measurement starts its own processes
    }
}
