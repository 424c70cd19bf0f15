// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.bench.report.Environment;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.ResultsFile;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Measures the overhead of a call with libmlx5, without a card, in Java and C by turns, and writes the results to a
 * file: {@code OverMlx5 [--quick] FILE}. Runs in a second process, which has {@link Mlx5StandIn}.
 */
public final class OverMlx5 {
    private static final int ROUNDS = 5;
    private static final int QUICK_ROUNDS = 2;

    private OverMlx5() {
    }

    /**
     * Runs the benchmarks.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws IOException, InterruptedException, RunnerException {
        boolean quick = Arrays.asList(args).contains("--quick");
        String missing = Mlx5StandIn.missing();
        if (args.length != (quick ? 2 : 1) || missing != null) {
            System.err.println(missing == null ? "usage: OverMlx5 [--quick] FILE"
                    : "the benchmarks without a card cannot run: " + missing);
            System.exit(missing == null ? 2 : 1);
        }
        if (!Mlx5StandIn.isPreloaded()) {
            System.exit(Mlx5StandIn.run(OverMlx5.class, args));
        }
        Measurements measurements = new Measurements(quick, false);
        List<Result> results = new ArrayList<>();
        int rounds = quick ? QUICK_ROUNDS : ROUNDS;
        for (int round = 1; round <= rounds; round++) {
            System.out.println("round " + round + " of " + rounds);
            for (boolean extended : new boolean[] {false, true}) {
                for (int batch : new int[] {1, PostAndPoll.LARGEST_BATCH}) {
                    results.addAll(measurements.overMlx5(batch, extended, round));
                }
            }
        }
        ResultsFile.write(Path.of(args[args.length - 1]), new Results(Environment.here(), results));
    }
}
