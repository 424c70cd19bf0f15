// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.testing.RdmaTestDevice;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The main class of the soak, and its options. */
@Command(name = "soak", sortOptions = false,
        header = "Opens and closes connections under load and faults; nothing may be lost or leaked.",
        description = {"Prints a line per interval: what was done, and what is in use when all is closed.",
            "Exit status: 0 if all went well; 1 if something was lost or leaked, or memory grows; 3 if it hung;",
            "2 for invalid options."})
public final class Soak implements Callable<Integer> {
    private static final double NANOS_OF_MINUTE = 60e9;

    @Option(names = "--minutes", paramLabel = "N", defaultValue = "10",
            description = "How long to run (${DEFAULT-VALUE}); may be a fraction.")
    private double minutes;

    @Option(names = "--cycles", paramLabel = "M", description = "Only connect, transfer and close, M times;"
            + " --minutes is then an upper limit, and there is none by default.")
    private long cycles;

    @Option(names = "--seed", paramLabel = "S", description = "The seed of all random choices, which is printed.")
    private Long seed;

    @Option(names = "--workers", paramLabel = "W", defaultValue = "4",
            description = "How many scenarios run in parallel (${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--interval", paramLabel = "SECONDS", defaultValue = "60",
            description = "The time between two checks of what is in use (${DEFAULT-VALUE}).")
    private int interval;

    @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "120",
            description = "How long to wait for something that must happen (${DEFAULT-VALUE}); what takes"
                    + " three times as long is a hang.")
    private int timeout;

    @Option(names = "--only", paramLabel = "SCENARIO", split = ",", description = "Run only these scenarios.")
    private List<String> only;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Soak() {
    }

    /** Runs the soak, and ends the JVM with its exit status. */
    public static void main(String[] args) {
        System.exit(run(new PrintWriter(System.out, true), args));
    }

    /** Runs the soak, and returns its exit status. */
    static int run(PrintWriter out, String... args) {
        return new CommandLine(new Soak()).setOut(out).execute(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (minutes <= 0 || cycles < 0 || workers < 1 || interval < 1 || timeout < 1) {
            throw new ParameterException(spec.commandLine(), "these numbers must be positive");
        }
        boolean limited = cycles == 0 || spec.commandLine().getParseResult().hasMatchedOption("--minutes");
        Duration duration = limited ? Duration.ofNanos((long) (minutes * NANOS_OF_MINUTE)) : Duration.ofDays(1);
        Plan plan = new Plan(RdmaTestDevice.get().ipv4(), mix(), duration, cycles == 0 ? Long.MAX_VALUE : cycles,
                seed == null ? System.nanoTime() : seed, workers, Duration.ofSeconds(interval),
                Duration.ofSeconds(timeout));
        PrintWriter out = spec.commandLine().getOut();
        out.printf("soak of %s with the seed %d, %d workers%n", RdmaTestDevice.get().name(), plan.seed(), workers);
        return new SoakRun(plan, out).run() ? 0 : 1;
    }

    private ScenarioMix mix() {
        if (only == null) {
            return cycles == 0 ? ScenarioMix.everything() : ScenarioMix.cycles();
        }
        try {
            return ScenarioMix.of(only);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
