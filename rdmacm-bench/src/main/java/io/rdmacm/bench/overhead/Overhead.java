// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.overhead.PostAndPoll.Way;
import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.bench.report.Environment;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import io.rdmacm.verbs.error.RdmaException;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Measures the overhead of a call without a device, one measurement at a time, and writes the results to a file:
 * {@code Overhead [--quick] [--mlx5] FILE}. JMH runs {@link PostAndPoll} for C and for Java, each in a JVM of its own.
 * Both use the median of short runs of {@value PostAndPoll#OPERATIONS} operations each, so that runs in which something
 * else used the CPU do not count. With {@code --mlx5} the calls are those of libmlx5, without a card, in a second
 * process that has {@linkplain NativeSide what stands in for it}.
 */
public final class Overhead {
    private static final List<Way> CALLS = List.of(Way.CLASSIC, Way.EXTENDED);
    private static final int STARTS = 5;
    private static final int CLOSES = 3;
    private static final int WARM_UPS = 20;
    private static final int SAMPLE_MILLIS = 100;
    private static final String USAGE = "usage: Overhead [--quick] [--mlx5] FILE";

    private final boolean quick;
    private final int samples;
    private final List<Result> results = new ArrayList<>();
    private int round;

    private Overhead(boolean quick) {
        this.quick = quick;
        this.samples = quick ? 8 : 16;
    }

    /**
     * Runs the benchmarks.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws IOException, InterruptedException, RunnerException,
            RdmaException {
        List<String> words = List.of(args);
        boolean quick = words.contains("--quick");
        boolean mlx5 = words.contains("--mlx5");
        String missing = words.isEmpty() || words.getLast().startsWith("-") ? USAGE : NativeSide.missing();
        if (missing != null) {
            System.err.println(missing);
            System.exit(missing.equals(USAGE) ? 2 : 1);
        }
        if (mlx5 && !NativeSide.hasCard()) {
            System.exit(NativeSide.runWithCard(Overhead.class, args));
        }
        int rounds = quick ? 2 : 3;
        Overhead run = new Overhead(quick);
        for (run.round = 1; run.round <= rounds; run.round++) {
            System.out.println("round " + run.round + " of " + rounds);
            if (mlx5) {
                run.overMlx5();
            } else {
                run.postAndPoll();
            }
        }
        if (!mlx5) {
            run.starts();
            run.closes();
        }
        Results all = new Results(Environment.here(""), run.results);
        all.write(Path.of(words.getLast()));
        Summary.print(all);
    }

    private void postAndPoll() throws RunnerException {
        // the summary uses the first payload
        List<Payload> payloads = List.of(Payload.ONE_ENTRY, new Payload(2, false), new Payload(1, true));
        for (Payload payload : quick ? payloads.subList(0, 1) : payloads) {
            for (int batch : new int[] {1, PostAndPoll.LARGEST_BATCH}) {
                Map<String, Integer> options = Map.of("batch", batch, "sges", payload.entries(), "inline",
                        payload.inline() ? 1 : 0);
                for (Way calls : CALLS) {
                    compare(Summary.POST_POLL, Result.params("calls", calls, "sges", payload.entries(), "inline",
                            payload.inline(), "batch", batch), options, calls);
                }
            }
        }
        if (quick) {
            return;
        }
        for (int polled = 1; polled <= PostAndPoll.LARGEST_BATCH; polled *= 2) {
            compare(Summary.POLL_IN_BATCHES, Result.params("polled", polled),
                    Map.of("batch", PostAndPoll.LARGEST_BATCH, "polled", polled), Way.CLASSIC);
        }
        for (int rotate : new int[] {0, 1}) {
            for (int pairs : new int[] {1, 10, 100, 1000}) {
                compare(Summary.QUEUE_PAIRS, Result.params("rotate", rotate == 1, "queue_pairs", pairs),
                        Map.of("batch", 1, "queuePairs", pairs, "rotate", rotate), Way.MANY);
            }
            for (int regions : new int[] {1, 100, 10_000}) {
                compare(Summary.REGIONS, Result.params("rotate", rotate == 1, "regions", regions),
                        Map.of("batch", 1, "regions", regions, "rotate", rotate, "data", rotate), Way.MANY);
            }
        }
    }

    private void overMlx5() throws RunnerException {
        for (int batch : new int[] {1, PostAndPoll.LARGEST_BATCH}) {
            for (Way calls : CALLS) {
                compare(Summary.POST_POLL_MLX5, Result.params("calls", calls, "batch", batch), Map.of("batch", batch),
                        calls);
            }
            add(Summary.POST_POLL_MLX5, Side.DIRECT, Result.params("calls", "classic", "batch", batch), "ns",
                    nanos(Side.DIRECT, Way.CLASSIC, Map.of("batch", batch)));
        }
    }

    private void starts() throws IOException, InterruptedException {
        for (round = 1; round <= STARTS; round++) {
            add(Summary.FIRST_POST, Side.JAVA, Result.params("cache", false), "ms", StartUp.millis());
        }
    }

    private void closes() throws RdmaException {
        for (round = 1; round <= CLOSES; round++) {
            for (int posts : new int[] {0, 1, RegionCloses.QUEUE_PAIRS}) {
                add(Summary.REGION_CLOSE, Side.JAVA, Result.params("posts", posts), "ns", RegionCloses.nanos(posts));
            }
        }
    }

    private void compare(String name, Map<String, Object> params, Map<String, Integer> options, Way way)
            throws RunnerException {
        for (Side side : List.of(Side.C, Side.JAVA)) {
            add(name, side, params, "ns", nanos(side, way, options));
        }
    }

    private void add(String name, Side side, Map<String, Object> params, String unit, double value) {
        Map<String, Object> all = new LinkedHashMap<>(params);
        all.put(Result.ROUND, round);
        results.add(new Result(name, side, all, Summary.TIME, unit, value));
        System.out.printf("  %-22s %-13s %8.2f %-2s  %s%n", name, side.label(), value, unit, params);
    }

    private double nanos(Side side, Way way, Map<String, Integer> options) throws RunnerException {
        ChainedOptionsBuilder builder = new OptionsBuilder()
                .include("^" + PostAndPoll.class.getName().replace(".", "\\.") + ".postAndPoll$")
                .forks(1).shouldFailOnError(true).verbosity(VerboseMode.SILENT)
                // JMH uses Unsafe
                .jvmArgsAppend("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow")
                .warmupIterations(WARM_UPS).warmupTime(TimeValue.milliseconds(SAMPLE_MILLIS))
                .measurementIterations(samples).measurementTime(TimeValue.milliseconds(SAMPLE_MILLIS))
                .mode(Mode.SampleTime).operationsPerInvocation(1)
                .param("side", side.name()).param("way", way.name());
        options.forEach((name, value) -> builder.param(name, value.toString()));
        return new Runner(builder.build()).runSingle().getPrimaryResult().getStatistics().getPercentile(50)
                / PostAndPoll.OPERATIONS;
    }
}
