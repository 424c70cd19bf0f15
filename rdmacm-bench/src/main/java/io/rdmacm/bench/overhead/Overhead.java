// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.report.Environment;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.ResultsFile;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import io.rdmacm.verbs.error.RdmaException;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Measures the overhead of a call without a device, in Java and C by turns, and writes the results to a file:
 * {@code Overhead [--quick] [--rounds N] FILE}. {@link Disni} is measured too if the environment names it.
 */
public final class Overhead {
    private static final int ROUNDS = 5;
    private static final int QUICK_ROUNDS = 2;
    private static final int STARTS = 5;

    private final Measurements measurements;
    private final boolean quick;
    private final int rounds;
    private final List<Result> results = new ArrayList<>();

    private Overhead(boolean quick, int rounds, boolean disni) {
        this.measurements = new Measurements(quick, disni);
        this.quick = quick;
        this.rounds = rounds;
    }

    /**
     * Runs the benchmarks.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws IOException, InterruptedException, RunnerException {
        boolean quick = false;
        int rounds = 0;
        Path file = null;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--quick" -> quick = true;
                case "--rounds" -> {
                    i++;
                    rounds = Integer.parseInt(args[i]);
                }
                default -> file = Path.of(args[i]);
            }
        }
        String missing = NullProvider.missing();
        if (file == null || missing != null) {
            System.err.println(file == null ? "usage: Overhead [--quick] [--rounds N] FILE"
                    : "the benchmarks without a device cannot run: " + missing);
            System.exit(file == null ? 2 : 1);
        }
        Overhead run = new Overhead(quick, rounds > 0 ? rounds : quick ? QUICK_ROUNDS : ROUNDS, disni());
        Results all = new Results(Environment.here(), run.run());
        ResultsFile.write(file, all);
        Summary.of(all).forEach((name, ratio) -> {
            if (ratio != null) {
                System.out.printf("%-20s %.3f%n", name, ratio);
            }
        });
    }

    /** Looks whether DiSNI is named and usable before anything is measured. */
    private static boolean disni() {
        try {
            return Disni.named(System.getenv()).isPresent();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(1);
            throw e;
        }
    }

    private List<Result> run() throws IOException, InterruptedException, RunnerException {
        for (int round = 1; round <= rounds; round++) {
            System.out.println("round " + round + " of " + rounds);
            round(round);
        }
        heap();
        regionCloses();
        results.addAll(StartUp.measure(STARTS));
        return results;
    }

    private void round(int round) throws IOException, InterruptedException, RunnerException {
        // the summary uses the first payload
        for (Payload payload : quick || round > 1 ? new Payload[] {Payload.ONE_ENTRY} : Payload.values()) {
            for (int batch : new int[] {1, PostAndPoll.LARGEST_BATCH}) {
                results.addAll(measurements.postAndPoll(batch, payload, round));
                results.addAll(measurements.postAndPollInPlace(batch, payload, round));
            }
        }
        // the growth with the number of objects is not a matter of a few percent
        if (quick || round > 1) {
            return;
        }
        for (int polled = 1; polled <= PostAndPoll.LARGEST_BATCH; polled *= 2) {
            results.addAll(measurements.pollInBatches(polled, round));
        }
        for (boolean rotate : new boolean[] {false, true}) {
            for (int pairs : new int[] {1, 10, 100, 1000}) {
                results.addAll(measurements.amongQueuePairs(pairs, rotate, round));
            }
            for (int regions : new int[] {1, 100, 10_000}) {
                results.addAll(measurements.amongRegions(regions, rotate, round));
            }
        }
    }

    private void heap() throws RdmaException {
        Map<String, Object> none = new LinkedHashMap<>();
        Result heap = new Result("queue_pair_heap", Side.JAVA, none, "memory", "B",
                QueuePairHeap.bytes());
        System.out.printf("heap of a queue pair: %.0f B%n", heap.value());
        results.add(heap);
    }

    private void regionCloses() throws RdmaException {
        for (int posts : new int[] {0, 1, RegionCloses.QUEUE_PAIRS}) {
            Map<String, Object> params = new LinkedHashMap<>();
            params.put("queue_pairs", RegionCloses.QUEUE_PAIRS);
            params.put("posts_before_each", posts);
            Result close = new Result("region_close", Side.JAVA, params, Summary.TIME, "ns", RegionCloses.nanos(posts));
            System.out.printf("close of a region after %d posts: %.0f ns%n", posts, close.value());
            results.add(close);
        }
    }
}
