// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The few figures that show whether the library reaches its goals. Each is the ratio of medians of Java and C, except
 * those that compare other bindings with Java, or RDMA with TCP, and the time until the first post. A time should be
 * below one, a bandwidth or a rate above.
 */
public final class Summary {
    /** The overhead benchmark: one post and one poll over the null provider. */
    public static final String POST_POLL = "post_poll";
    /** Its parameters in the summary, besides {@code batch}. */
    public static final Map<String, Object> POST_POLL_PARAMS = Map.of("sges", 1, "inline", false, "calls", "classic");
    /** The same with libmlx5, over what stands in for the kernel and a card. */
    public static final String POST_POLL_MLX5 = "post_poll_mlx5";
    /** One post whose completions are polled a few at a time. */
    public static final String POLL_IN_BATCHES = "poll_in_batches";
    /** One post and one poll with many queue pairs. */
    public static final String QUEUE_PAIRS = "post_poll_queue_pairs";
    /** One post and one poll with many memory regions. */
    public static final String REGIONS = "post_poll_regions";
    /** The start of a JVM until its first request has completed. */
    public static final String FIRST_POST = "first_post";
    /** The metric for time per operation. */
    public static final String TIME = "time";
    /** The metric for the median latency of one measurement. */
    public static final String MEDIAN = "p50";
    /** The metric for bytes per second. */
    public static final String BANDWIDTH = "bandwidth";
    /** The metric for operations or connections per second. */
    public static final String RATE = "rate";
    /** The metric for the bytes that the Java side has allocated for each operation. */
    public static final String ALLOCATED = "allocated";
    /** Setting up many connections at once through a connection manager. */
    public static final String CONNECTION_SET_UP = "connection_set_up";
    /** Round trips over streams of bytes. */
    public static final String STREAM_ROUND_TRIP = "stream_round_trip";
    /** Many transfers over streams of bytes, in each direction. */
    public static final String STREAM_TRANSFER = "stream_transfer";
    /** Round trips with Netty, by how many channels of the event loop are open. */
    public static final String NETTY_AMONG_CHANNELS = "netty_round_trip_among_channels";

    private static final String ROUND_TRIP = "connection_round_trip";
    private static final List<String> POLLINGS = List.of("busy", "yield", "events", "await");

    private Summary() {
    }

    /**
     * {@return the ratios by name; null if a side was not measured, and none for DiSNI if it was not named}
     *
     * @param results what was measured
     */
    public static Map<String, Double> of(Results results) {
        Map<String, Double> summary = new LinkedHashMap<>();
        summary.put("overhead_batch1", overhead(results, Side.JAVA, Side.C, 1));
        summary.put("overhead_batch16", overhead(results, Side.JAVA, Side.C, 16));
        List<Double> classic = new ArrayList<>(ratios(results, POST_POLL, TIME, Map.of("calls", "classic")));
        for (String name : List.of(POLL_IN_BATCHES, QUEUE_PAIRS, REGIONS)) {
            classic.addAll(ratios(results, name, TIME, Map.of()));
        }
        summary.put("overhead_worst_classic", worst(classic));
        summary.put("overhead_geomean_classic", geometricMean(classic));
        summary.put("overhead_worst_extended",
                worst(ratios(results, POST_POLL, TIME, Map.of("calls", "extended"))));
        summary.put("overhead_mlx5_batch1", overMlx5(results, Side.JAVA, 1));
        summary.put("overhead_mlx5_batch16", overMlx5(results, Side.JAVA, 16));
        summary.put("direct_over_mlx5", overMlx5(results, Side.DIRECT, 1));
        summary.put("jni_over_java", overhead(results, Side.JNI, Side.JAVA, 1));
        summary.put("naive_over_java", overhead(results, Side.NAIVE, Side.JAVA, 1));
        disni(results, summary);
        summary.put("first_post_seconds", firstPost(results));
        for (String operation : List.of("send", "write", "read")) {
            summary.put(operation + "_latency", latency(results, operation + "_latency"));
        }
        summary.put("bandwidth_64k", bandwidth(results, 64 * 1024));
        summary.put("bandwidth_1m", bandwidth(results, 1024 * 1024));
        summary.put("events_latency", waiting(results, "events"));
        summary.put("await_latency", waiting(results, "await"));
        summary.put("connect_rate", overConfigurations(results, "connect", RATE, Map.of()));
        connections(results, summary);
        streams(results, summary);
        return Collections.unmodifiableMap(summary);
    }

    private static Double waiting(Results results, String polling) {
        return overConfigurations(results, "send_latency", MEDIAN,
                Map.of("transport", "RC", "polling", polling, "size", 64));
    }

    private static Double overMlx5(Results results, Side side, int batch) {
        Map<String, Object> params = Map.of("calls", "classic", "batch", batch);
        return ratio(results.median(POST_POLL_MLX5, TIME, side, params),
                results.median(POST_POLL_MLX5, TIME, Side.C, params));
    }

    private static Double firstPost(Results results) {
        OptionalDouble millis = results.median(FIRST_POST, TIME, Side.JAVA, Map.of("cache", false));
        return millis.isPresent() ? millis.getAsDouble() / 1000 : null;
    }

    /** Few have DiSNI, so its ratios are left out where it was not measured. */
    private static void disni(Results results, Map<String, Double> summary) {
        summary.computeIfAbsent("disni_over_java", name -> overhead(results, Side.DISNI, Side.JAVA, 1));
        summary.computeIfAbsent("disni_over_java_batch16", name -> overhead(results, Side.DISNI, Side.JAVA, 16));
    }

    /** The ratios of the connections that carry messages. */
    private static void connections(Results results, Map<String, Double> summary) {
        summary.put("connection_latency", roundTrip(results, POLLINGS));
        summary.put("connection_latency_events", roundTrip(results, List.of("events")));
        summary.put("connection_bandwidth_64k",
                connection(results, "connection_stream", BANDWIDTH, "handler", POLLINGS));
        summary.put("connection_bandwidth_64k_copying",
                connection(results, "connection_stream", BANDWIDTH, "receive", POLLINGS));
        summary.put("connection_read_pipeline",
                connection(results, "connection_reads", BANDWIDTH, "handler", POLLINGS));
        summary.put("connection_over_low", overQueuePair(results));
        summary.put("connection_rate", connection(results, CONNECTION_SET_UP, RATE, "shared", List.of()));
        summary.put("connection_rate_own", connection(results, CONNECTION_SET_UP, RATE, "own", List.of()));
    }

    /** The ratios of the streams of bytes; NIO and Netty are compared with themselves over TCP. */
    private static void streams(Results results, Map<String, Double> summary) {
        summary.put("stream_latency",
                overConfigurations(results, STREAM_ROUND_TRIP, TIME, Map.of("by", "engine", "size", 64)));
        summary.put("stream_bandwidth_64k",
                overConfigurations(results, STREAM_TRANSFER, BANDWIDTH, Map.of("by", "engine", "size", 64 * 1024)));
        summary.put("stream_bandwidth_1m",
                overConfigurations(results, STREAM_TRANSFER, BANDWIDTH, Map.of("by", "engine", "size", 1024 * 1024)));
        summary.put("nio_stream_latency", overTcp(results, "nio", "nio tcp"));
        summary.put("netty_latency", overTcp(results, "netty epoll", "netty tcp"));
    }

    private static Double overTcp(Results results, String by, String tcp) {
        return ratio(results.median(STREAM_ROUND_TRIP, TIME, Side.JAVA, Map.of("by", by, "size", 64)),
                results.median(STREAM_ROUND_TRIP, TIME, Side.JAVA, Map.of("by", tcp, "size", 64)));
    }

    /** Returns the better one of handler and receive. */
    private static Double roundTrip(Results results, List<String> pollings) {
        return Stream.of("handler", "receive")
                .map(by -> connection(results, ROUND_TRIP, MEDIAN, by, pollings)).filter(Objects::nonNull)
                .min(Double::compare).orElse(null);
    }

    /** Returns Java / C with the first way of waiting that both sides have measured. */
    private static Double connection(Results results, String name, String metric, String by, List<String> pollings) {
        return pollings.isEmpty() ? overConfigurations(results, name, metric, Map.of("by", by))
                : pollings.stream().map(polling -> overConfigurations(results, name, metric,
                        Map.of("by", by, "polling", polling))).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** Returns the round trip of a connection over that of a queue pair, with the first way of waiting. */
    private static Double overQueuePair(Results results) {
        for (String polling : POLLINGS) {
            OptionalDouble low = results.median(ROUND_TRIP, MEDIAN, Side.JAVA,
                    Map.of("by", "queue pair", "polling", polling));
            Double best = Stream.of("handler", "receive")
                    .map(by -> ratio(results.median(ROUND_TRIP, MEDIAN, Side.JAVA,
                            Map.of("by", by, "polling", polling)), low))
                    .filter(Objects::nonNull).min(Double::compare).orElse(null);
            if (best != null) {
                return best;
            }
        }
        return null;
    }

    private static Double overhead(Results results, Side over, Side under, int batch) {
        Map<String, Object> params = new LinkedHashMap<>(POST_POLL_PARAMS);
        params.put("batch", batch);
        return ratio(results.median(POST_POLL, TIME, over, params), results.median(POST_POLL, TIME, under, params));
    }

    /** Returns the median over sends, writes and reads. */
    private static Double bandwidth(Results results, int size) {
        List<Double> ratios = new ArrayList<>();
        for (String operation : List.of("send", "write", "read")) {
            ratios.addAll(ratios(results, operation + "_bandwidth", BANDWIDTH, Map.of("size", size)));
        }
        return medianOf(ratios);
    }

    /** Uses the first way of waiting that both sides have measured: the fastest one that the machine allows. */
    private static Double latency(Results results, String name) {
        return POLLINGS.stream().map(polling -> overConfigurations(results, name, MEDIAN,
                Map.of("transport", "RC", "polling", polling))).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static Double overConfigurations(Results results, String name, String metric, Map<String, ?> params) {
        return medianOf(ratios(results, name, metric, params));
    }

    /**
     * {@return Java / C for each configuration that both sides have measured}
     *
     * @param results what was measured
     * @param name the name of the measurement
     * @param metric the metric
     * @param params the parameters that the configurations must have
     */
    static List<Double> ratios(Results results, String name, String metric, Map<String, ?> params) {
        return results.results().stream()
                .filter(result -> result.name().equals(name) && result.metric().equals(metric) && result.has(params))
                .map(Result::configuration).distinct()
                .map(same -> ratio(results.median(name, metric, Side.JAVA, same),
                        results.median(name, metric, Side.C, same)))
                .filter(Objects::nonNull).toList();
    }

    private static Double worst(List<Double> values) {
        return values.stream().max(Double::compare).orElse(null);
    }

    private static Double geometricMean(List<Double> values) {
        return values.isEmpty() ? null
                : Math.exp(values.stream().mapToDouble(Math::log).average().getAsDouble());
    }

    private static Double medianOf(List<Double> values) {
        OptionalDouble median = Results.median(values.stream().mapToDouble(Double::doubleValue).toArray());
        return median.isPresent() ? median.getAsDouble() : null;
    }

    private static Double ratio(OptionalDouble over, OptionalDouble under) {
        return over.isPresent() && under.isPresent() && under.getAsDouble() != 0
                ? over.getAsDouble() / under.getAsDouble() : null;
    }
}
