// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.rdmacm.bench.device.machine.CPrograms;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.ResultsFile;

/**
 * The device part of the benchmark: {@code DeviceBenchmark [--quick] [--only TEXT] FILE}. It prints its progress to
 * standard error, and writes the results to the file. {@link Jucx} is measured too if the environment names it.
 */
public final class DeviceBenchmark {
    private DeviceBenchmark() {
    }

    /**
     * Runs the benchmark.
     *
     * @param args see the class
     * @throws Exception if there is no usable device, or the results cannot be written
     */
    public static void main(String[] args) throws Exception {
        List<String> words = Arrays.asList(args);
        if (words.isEmpty() || words.getLast().startsWith("-")) {
            System.err.println("DeviceBenchmark [--quick] [--only TEXT] FILE");
            System.exit(2);
        }
        int option = words.indexOf("--only");
        String only = option < 0 ? "" : words.get(option + 1);
        Port port = Port.find();
        Cpus cpus = Cpus.find();
        int mtu = port.attributes().activeMtu();
        Plan planned = words.contains("--quick") ? Plan.quick(cpus.enoughForTwo(), mtu)
                : Plan.full(cpus.enoughForTwo(), mtu);
        Plan plan = withJucx() ? planned.withJucx() : planned;
        Collector collector = new Collector();
        try (CPrograms programs = new CPrograms(); JavaBench java = new JavaBench(cpus, plan.warmUp());
                JavaBench jucx = new JavaBench(cpus, plan.warmUp(), Jucx.environment(port));
                Perftest c = new Perftest(port, cpus, programs)) {
            List<Measurement> measurements = plan.measurements().stream()
                    .filter(measurement -> measurement.toString().contains(only)).toList();
            for (int i = 0; i < measurements.size(); i++) {
                say("[%d/%d] %s: %s", i + 1, measurements.size(), measurements.get(i),
                        compare(measurements.get(i), java, c, plan.rounds(), collector));
            }
            for (List<Trial> trials : Trials.groups(plan.trials())) {
                part(trials.getFirst().pattern().id().replace('_', ' ') + " " + trials.getFirst().polling().id(), only,
                        () -> Trials.run(trials, java, jucx, c, plan.trialRounds(), collector));
            }
            for (List<StreamTrial> trials : plan.streams()) {
                part(trials.getFirst().toString(), only,
                        () -> StreamTrials.run(trials, java, new Rstream(port, cpus), plan.trialRounds(), collector));
            }
            for (List<StreamTrial> trials : plan.amongChannels()) {
                part(trials.getFirst().toString(), only,
                        () -> StreamTrials.run(trials, java, plan.rounds(), collector));
            }
            part("registration", only, () -> Registrations.run(port, programs, plan, collector));
            part("connections", only, () -> Connections.run(port, java, cpus, programs, plan, collector));
            part("many connections", only, () -> ManyConnections.run(cpus, plan.manyConnections(), collector));
        }
        ResultsFile.write(Path.of(words.getLast()),
                new Results(DeviceEnvironment.describe(port, cpus), collector.results()));
    }

    private static boolean withJucx() {
        try {
            return Jucx.named(System.getenv()).isPresent();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(1);
            throw e;
        }
    }

    /** A part of the benchmark. */
    @FunctionalInterface
    private interface Part {
        void run() throws IOException, InterruptedException;
    }

    /** Runs a part; if it fails, the others still run. */
    private static void part(String name, String only, Part part) throws InterruptedException {
        if (name.contains(only)) {
            try {
                part.run();
            } catch (IOException e) {
                say("not measured: %s: %s", name, e.getMessage());
            }
        }
    }

    /** Measures both sides in turn, with changing order, so that other activity of the machine affects both alike. */
    static String compare(Measurement measurement, Bench java, Bench c, int rounds, Collector collector)
            throws InterruptedException {
        for (int round = 0; round < rounds; round++) {
            for (Bench bench : round % 2 == 0 ? List.of(java, c) : List.of(c, java)) {
                try {
                    collector.add(measurement, bench.side(), round, bench.run(measurement));
                } catch (IOException e) {
                    say("not measured: %s, %s: %s", measurement, bench.side().id(), e.getMessage());
                }
            }
        }
        collector.finish(measurement);
        return collector.text(measurement);
    }

    /** Prints a line of progress. */
    static void say(String format, Object... values) {
        System.err.println("bench: " + String.format(Locale.ROOT, format, values));
    }
}
