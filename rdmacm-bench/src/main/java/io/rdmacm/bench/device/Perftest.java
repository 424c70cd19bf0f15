// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.report.Result;
import io.rdmacm.verbs.device.LinkLayer;

/** The C side: {@code ib_send_lat} and the other programs of perftest, each as a server and a client. */
final class Perftest {
    // If the peers share one CPU, perftest often fails to measure the CPU frequency.
    private static final int TRIES = 8;
    private static final Pattern SAMPLE = Pattern.compile("[0-9]+, ([0-9.e+]+)");
    private static final Pattern BANDWIDTH = Pattern.compile("([0-9]+)\\s+[0-9]+\\s+\\S+\\s+(\\S+)\\s+(\\S+)");
    // for smaller messages, the rate has more digits than the bandwidth
    private static final int SMALL = 4096;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MEBI = 1 << 20;
    private static final double MEGA = 1e6;

    private final Port port;
    private final Programs programs;
    // that perftest counts in a microsecond
    private double cycles;

    Perftest(Port port, Programs programs) {
        this.port = port;
        this.programs = programs;
    }

    /** Measures latencies as perftest tells them, which are halves of round trips where the peer answers. */
    Outcome run(Measurement measurement) throws IOException, InterruptedException {
        return run(measurement, 1);
    }

    /**
     * Measures once.
     *
     * @param times how many of the latencies that perftest tells make one
     */
    Outcome run(Measurement measurement, int times) throws IOException, InterruptedException {
        if (measurement.latency()) {
            if (cycles == 0) {
                cycles = Double.parseDouble(
                        programs.run(Map.of(), List.of(programs.compiled("cycles").toString())).strip());
            }
            return Outcome.latencies(execute(measurement, output -> latencies(output, cycles / times)));
        }
        for (int i = 0; i < TRIES; i++) {
            double rate = execute(measurement, Perftest::messagesPerSecond);
            Path elapsed = programs.file("elapsed");
            if (rate <= 0 && measurement.polling() == Polling.YIELD && Files.exists(elapsed)) {
                rate = measurement.iterations() * NANOS_PER_SECOND / Long.parseLong(Files.readString(elapsed).strip());
            }
            if (rate > 0) {
                return Outcome.throughput(rate, measurement.size());
            }
        }
        throw new IOException(measurement.name() + ": perftest could not measure the frequency of the CPU");
    }

    private <T> T execute(Measurement measurement, Programs.Reader<T> reader) throws IOException, InterruptedException {
        List<String> server = options(measurement, Programs.anyPort());
        List<String> client = new ArrayList<>(server);
        client.add("127.0.0.1");
        Files.deleteIfExists(programs.file("elapsed"));
        Map<String, String> environment = new HashMap<>();
        if (measurement.polling() == Polling.YIELD) {
            environment.put("LD_PRELOAD", programs.compiled("yield", "-shared", "-fPIC", "-ldl").toString());
            environment.put("RDMACM_ELAPSED", programs.file("elapsed").toString());
            if (measurement.operation() == Measurement.Operation.WRITE && measurement.latency()) {
                environment.put("RDMACM_YIELD_ALWAYS", "1");
            }
        }
        return programs.besideServer(environment, server, client, reader);
    }

    /** Returns the program with its options, without the server's address: the same for both sides. */
    List<String> options(Measurement measurement, String tcpPort) {
        List<String> options = new ArrayList<>(List.of(
                "ib_" + Result.word(measurement.operation()) + (measurement.latency() ? "_lat" : "_bw"), "-F",
                "-d", port.device().name(), "-i", Integer.toString(port.number()),
                "-m", Integer.toString(port.attributes().activeMtu()),
                "-p", tcpPort, "-n", Integer.toString(measurement.iterations())));
        if (port.attributes().linkLayer() != LinkLayer.INFINIBAND || port.attributes().globalRouteRequired()) {
            options.addAll(List.of("-x", Integer.toString(port.gid().index())));
        }
        if (measurement.polling().usesEvents()) {
            options.add("-e");
        }
        switch (measurement.operation()) {
            case SEND, WRITE -> options.addAll(List.of("-I", "0"));
            default -> options.addAll(List.of("-o", Integer.toString(port.reads())));
        }
        if (measurement.operation() != Measurement.Operation.ATOMIC) {
            options.addAll(List.of("-s", Integer.toString(measurement.size())));
        }
        if (measurement.latency()) {
            options.addAll(List.of("-U", "-C"));
        } else {
            options.addAll(List.of("-N", "-Q", "1", "-t", Integer.toString(measurement.depth())));
            if (measurement.operation() == Measurement.Operation.SEND) {
                options.addAll(List.of("-r", Integer.toString(measurement.receives(measurement.iterations()))));
            }
        }
        return options;
    }

    /**
     * Returns the samples of a latency test that was run with {@code -U} and {@code -C}, in microseconds.
     *
     * @param text the output
     * @param cycles how many of its cycles are a microsecond
     */
    static double[] latencies(String text, double cycles) throws IOException {
        if (!text.contains("#, cycles")) {
            throw new IOException("no samples in cycles: " + text.strip());
        }
        double[] samples = text.substring(text.indexOf("#, cycles")).lines().map(String::strip).map(SAMPLE::matcher)
                .filter(sample -> sample.matches()).mapToDouble(sample -> Double.parseDouble(sample.group(1)) / cycles)
                .toArray();
        if (samples.length == 0) {
            throw new IOException("no samples: " + text.strip());
        }
        return samples;
    }

    /**
     * Returns the average of a bandwidth test in messages per second; 0 if perftest could not measure the CPU frequency
     * and printed no figure.
     */
    static double messagesPerSecond(String text) throws IOException {
        var row = text.lines().map(String::strip).map(BANDWIDTH::matcher).filter(line -> line.matches()).findFirst()
                .orElseThrow(() -> new IOException("no result: " + text.strip()));
        long size = Long.parseLong(row.group(1));
        String average = row.group(2);
        String rate = row.group(3);
        if (!average.matches("[0-9.]+") || !rate.matches("[0-9.]+")) {
            return 0;
        }
        return size < SMALL ? Double.parseDouble(rate) * MEGA : Double.parseDouble(average) * MEBI / size;
    }
}
