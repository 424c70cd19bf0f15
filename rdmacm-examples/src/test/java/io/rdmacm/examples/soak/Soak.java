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

/** The program: its options. */
@Command(name = "soak", sortOptions = false,
        header = "Connections come and go, with all operations and with faults; nothing may be lost or left.",
        description = {"A line for each shift: what was done in it, and what is in use when all is closed.",
            "Exit status: 0 when all went well; 1 when something was lost or left, or memory grows; 3 when it hung;",
            "2 for wrong options."})
public final class Soak implements Callable<Integer> {
    private static final double NANOS_OF_MINUTE = 60e9;

    @Option(names = "--minutes", paramLabel = "N", defaultValue = "10",
            description = "For how long (${DEFAULT-VALUE}); a fraction is fine.")
    private double minutes;

    @Option(names = "--cycles", paramLabel = "M", description = "Nothing but connect, transfer, close, M times; then"
            + " --minutes is a limit, without end if not given.")
    private long cycles;

    @Option(names = "--seed", paramLabel = "S", description = "What decides all that is left to chance; printed.")
    private Long seed;

    @Option(names = "--workers", paramLabel = "W", defaultValue = "4",
            description = "How many play at once (${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--shift", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long between two looks at what is in use (${DEFAULT-VALUE}).")
    private int shift;

    @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "120",
            description = "How long a thing may take that must happen (${DEFAULT-VALUE}); what takes three"
                    + " times as long hangs.")
    private int patience;

    @Option(names = "--only", paramLabel = "ACT", split = ",", description = "Only these acts.")
    private List<String> only;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public Soak() {
    }

    /** Runs it, and ends the JVM with its exit status. */
    public static void main(String[] args) {
        System.exit(run(new PrintWriter(System.out, true), args));
    }

    /** Runs it, and returns its exit status. */
    static int run(PrintWriter out, String... args) {
        return new CommandLine(new Soak()).setOut(out).execute(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (minutes <= 0 || cycles < 0 || workers < 1 || shift < 1 || patience < 1) {
            throw new ParameterException(spec.commandLine(), "these numbers must be positive");
        }
        boolean limited = cycles == 0 || spec.commandLine().getParseResult().hasMatchedOption("--minutes");
        Duration duration = limited ? Duration.ofNanos((long) (minutes * NANOS_OF_MINUTE)) : Duration.ofDays(1);
        Plan plan = new Plan(RdmaTestDevice.get().ipv4(), repertoire(), duration, cycles == 0 ? Long.MAX_VALUE : cycles,
                seed == null ? System.nanoTime() : seed, workers, Duration.ofSeconds(shift),
                Duration.ofSeconds(patience));
        PrintWriter out = spec.commandLine().getOut();
        out.printf("soak of %s with the seed %d, %d workers%n", RdmaTestDevice.get().name(), plan.seed(), workers);
        return new Season(plan, out).run() ? 0 : 1;
    }

    private Repertoire repertoire() {
        if (only == null) {
            return cycles == 0 ? Repertoire.everything() : Repertoire.cycles();
        }
        try {
            return Repertoire.of(only);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
