// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.overhead.PostAndPoll.Way;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the measurements one at a time: first the loop in C, then the same in Java in a JVM of its own, by JMH. Both use
 * the median of short runs of {@value PostAndPoll#OPERATIONS} operations each, with libmlx5 of
 * {@value PostAndPollOverMlx5#OPERATIONS}, so that runs in which something else used the CPU do not count.
 */
final class Measurements {
    /** The metric for the bytes that an operation allocates on the Java heap. */
    static final String ALLOCATION = "allocation";

    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final int MEDIAN = 50;
    private static final int SAMPLE_MILLIS = 100;
    private static final int ALLOCATION_SAMPLES = 3;

    // JMH uses Unsafe
    private static final List<String> JVM_ARGUMENTS = List.of("--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow", Disni.EXPORTS, Disni.QUIET);

    private final int warmUps;
    private final int samples;
    private final boolean disni;

    /**
     * Creates the measurements.
     *
     * @param quick whether to take fewer samples
     * @param disni whether to measure {@link Disni} too
     */
    Measurements(boolean quick, boolean disni) {
        this.warmUps = 20;
        this.samples = quick ? 8 : 16;
        this.disni = disni;
    }

    /** Measures the ways to post and poll. */
    List<Result> postAndPoll(int batch, Payload payload, int round)
            throws IOException, InterruptedException, RunnerException {
        Map<String, Object> params = postPollParams("classic", batch, payload, round);
        Map<String, Object> inJava = Map.of("batch", batch, "payload", payload);
        List<Result> results = new ArrayList<>();
        results.add(c(Summary.POST_POLL, params, inC(batch, payload)));
        results.add(java(Way.PUBLIC_API, Side.JAVA, Summary.POST_POLL, params, inJava));
        results.add(java(Way.GENERATED_BINDINGS, Side.NAIVE, Summary.POST_POLL, params, inJava));
        results.add(java(Way.JNI, Side.JNI, Summary.POST_POLL, params, inJava));
        if (disni) {
            results.add(java(Way.DISNI, Side.DISNI, Summary.POST_POLL, params, inJava));
        }
        if (round == 1) {
            results.add(allocation(Way.PUBLIC_API, params, inJava));
        }
        return results;
    }

    /** Measures the extended interfaces. */
    List<Result> postAndPollInPlace(int batch, Payload payload, int round)
            throws IOException, InterruptedException, RunnerException {
        Map<String, Object> params = postPollParams("extended", batch, payload, round);
        Map<String, Integer> inC = inC(batch, payload);
        inC.put("extended", 1);
        Map<String, Object> inJava = Map.of("batch", batch, "payload", payload);
        List<Result> results = new ArrayList<>();
        results.add(c(Summary.POST_POLL, params, inC));
        results.add(java(Way.IN_PLACE, Side.JAVA, Summary.POST_POLL, params, inJava));
        if (payload == Payload.ONE_ENTRY) {
            results.add(java(Way.CALLS_IN_PLACE, Side.CALLS, Summary.POST_POLL, params, inJava));
        }
        if (round == 1) {
            results.add(allocation(Way.IN_PLACE, params, inJava));
        }
        return results;
    }

    /** Measures posts and polls with libmlx5. */
    List<Result> overMlx5(int batch, boolean extended, int round)
            throws IOException, InterruptedException, RunnerException {
        Map<String, Object> params = params(round, "calls", extended ? "extended" : "classic", "batch", batch);
        Map<String, Integer> inC = inC(batch, Payload.ONE_ENTRY);
        inC.put("extended", extended ? 1 : 0);
        inC.put("completions", Mlx5StandIn.COMPLETIONS);
        List<Result> results = new ArrayList<>();
        results.add(c(Mlx5StandIn.loop(), Summary.POST_POLL_MLX5, params, inC));
        results.add(overMlx5(extended ? PostAndPollOverMlx5.Way.IN_PLACE : PostAndPollOverMlx5.Way.PUBLIC_API,
                Side.JAVA, params, batch));
        if (!extended) {
            results.add(overMlx5(PostAndPollOverMlx5.Way.DIRECT, Side.DIRECT, params, batch));
        }
        return results;
    }

    private Result overMlx5(PostAndPollOverMlx5.Way way, Side side, Map<String, Object> params, int batch)
            throws RunnerException {
        return java(options(PostAndPollOverMlx5.class, way, Map.of("batch", batch), samples), side,
                Summary.POST_POLL_MLX5, params, PostAndPollOverMlx5.OPERATIONS);
    }

    /** Measures one post whose completions are polled a few at a time. */
    List<Result> pollInBatches(int polled, int round) throws IOException, InterruptedException, RunnerException {
        Map<String, Integer> inC = inC(PostAndPoll.LARGEST_BATCH, Payload.ONE_ENTRY);
        inC.put("polled", polled);
        Map<String, Object> params = params(round, "polled", polled);
        return List.of(c(Summary.POLL_IN_BATCHES, params, inC), java(Way.PUBLIC_API, Side.JAVA,
                Summary.POLL_IN_BATCHES, params, Map.of("batch", PostAndPoll.LARGEST_BATCH, "polled", polled)));
    }

    /** Measures with many queue pairs. */
    List<Result> amongQueuePairs(int pairs, boolean rotate, int round)
            throws IOException, InterruptedException, RunnerException {
        return among(Summary.QUEUE_PAIRS, Way.QUEUE_PAIRS, Way.CALLS_QUEUE_PAIRS, rotate,
                params(round, "rotate", rotate, "queue_pairs", pairs), "queuePairs", pairs);
    }

    /** Measures with many memory regions. */
    List<Result> amongRegions(int regions, boolean rotate, int round)
            throws IOException, InterruptedException, RunnerException {
        return among(Summary.REGIONS, Way.REGIONS, Way.CALLS_REGIONS, rotate,
                params(round, "rotate", rotate, "regions", regions), "regions", regions);
    }

    private List<Result> among(String name, Way way, Way calls, boolean rotate, Map<String, Object> params,
            String objects, int count) throws IOException, InterruptedException, RunnerException {
        Map<String, Integer> inC = inC(1, Payload.ONE_ENTRY);
        inC.put("depth", VerbsStack.SMALL_DEPTH);
        inC.put(objects, count);
        inC.put("rotate", rotate ? 1 : 0);
        inC.put("data", rotate && way == Way.REGIONS ? 1 : 0);
        Map<String, Object> inJava = Map.of("batch", 1, objects, count, "rotate", rotate);
        return List.of(c(name, params, inC), java(way, Side.JAVA, name, params, inJava),
                java(calls, Side.CALLS, name, params, inJava));
    }

    private Map<String, Integer> inC(int batch, Payload payload) {
        Map<String, Integer> options = new LinkedHashMap<>();
        options.put("batch", batch);
        options.put("sges", payload.entries());
        options.put("inline", payload.inline() ? 1 : 0);
        options.put("millis", SAMPLE_MILLIS);
        options.put("warmUps", 1);
        return options;
    }

    private static Map<String, Object> postPollParams(String calls, int batch, Payload payload, int round) {
        return params(round, "calls", calls, "sges", payload.entries(), "inline", payload.inline(), "batch", batch);
    }

    private static Map<String, Object> params(int round, Object... namesAndValues) {
        Map<String, Object> params = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            params.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        params.put(Result.ROUND, round);
        return params;
    }

    private Result c(String name, Map<String, Object> params, Map<String, Integer> options)
            throws IOException, InterruptedException {
        return c(NullProvider.unpacked().loop(), name, params, options);
    }

    private Result c(Path loop, String name, Map<String, Object> params, Map<String, Integer> options)
            throws IOException, InterruptedException {
        return shown(new Result(name, Side.C, params, Summary.TIME, "ns", CLoop.run(loop, options, samples)));
    }

    private Result java(Way way, Side side, String name, Map<String, Object> params, Map<String, ?> inJava)
            throws RunnerException {
        return java(options(PostAndPoll.class, way, inJava, samples), side, name, params, PostAndPoll.OPERATIONS);
    }

    private static Result java(ChainedOptionsBuilder benchmark, Side side, String name, Map<String, Object> params,
            int operations) throws RunnerException {
        Options options = benchmark.mode(Mode.SampleTime).operationsPerInvocation(1).build();
        double time = new Runner(options).runSingle().getPrimaryResult().getStatistics().getPercentile(MEDIAN);
        return shown(new Result(name, side, params, Summary.TIME, "ns", time / operations));
    }

    /** Measures what the public API allocates, in a run of its own without samples, for which JMH allocates. */
    private Result allocation(Way way, Map<String, Object> params, Map<String, ?> inJava) throws RunnerException {
        Options options = options(PostAndPoll.class, way, inJava, ALLOCATION_SAMPLES).mode(Mode.AverageTime)
                .addProfiler(GCProfiler.class).build();
        double bytes = new Runner(options).runSingle().getSecondaryResults().get(ALLOCATED).getScore();
        return shown(new Result(Summary.POST_POLL, Side.JAVA, params, ALLOCATION, "B", bytes));
    }

    private ChainedOptionsBuilder options(Class<?> benchmark, Enum<?> way, Map<String, ?> inJava, int iterations) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + (benchmark.getName() + ".postAndPoll").replace(".", "\\.") + "$")
                .forks(1).shouldFailOnError(true).verbosity(VerboseMode.SILENT)
                .jvmArgsAppend(JVM_ARGUMENTS.toArray(new String[0]))
                .warmupIterations(warmUps).warmupTime(TimeValue.milliseconds(SAMPLE_MILLIS))
                .measurementIterations(iterations).measurementTime(TimeValue.milliseconds(SAMPLE_MILLIS))
                .param("way", way.name());
        inJava.forEach((key, value) -> options.param(key, value.toString()));
        return options;
    }

    private static Result shown(Result result) {
        System.out.printf("  %-22s %-6s %8.2f %-2s  %s%n", result.name(), result.side().id(), result.value(),
                result.unit(), result.configuration());
        return result;
    }
}
