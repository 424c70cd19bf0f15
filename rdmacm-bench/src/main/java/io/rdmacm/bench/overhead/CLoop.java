// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Runs the C version of the loop, in a process of its own. */
final class CLoop {
    private static final int MAX_SEEDS = 1_000_000;

    private CLoop() {
    }

    /**
     * Runs the program several times, each with another random placement: see {@link Placement}.
     *
     * @param loop the program
     * @param options the options by name
     * @param runs the number of runs
     * @return the nanoseconds of one post and poll: the median of the runs
     */
    static double run(Path loop, Map<String, Integer> options, int runs) throws IOException, InterruptedException {
        double[] times = new double[runs];
        for (int i = 0; i < runs; i++) {
            times[i] = runOnce(loop, options, 1 + ThreadLocalRandom.current().nextInt(MAX_SEEDS));
        }
        Arrays.sort(times);
        return times[runs / 2];
    }

    private static double runOnce(Path loop, Map<String, Integer> options, int seed)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(loop.toString(), "seed=" + seed,
                "samples=1"));
        options.forEach((name, value) -> command.add(name + "=" + value));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(command + " ended with " + status);
            }
            return Double.parseDouble(line);
        } finally {
            process.destroy();
        }
    }
}
