// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The few figures that show whether the library reaches its goals. Each is the ratio of medians of Java and C, except
 * those that compare RDMA with TCP or a connection with a queue pair, and the time until the first post. A time should
 * be below one, a bandwidth or a rate above.
 */
public final class Summary {
    // Measurements without a device: posts and polls, and the start of a JVM until its first request has completed.
    public static final String POST_POLL = "post_poll";
    public static final String POST_POLL_MLX5 = "post_poll_mlx5";
    public static final String POLL_IN_BATCHES = "poll_in_batches";
    public static final String QUEUE_PAIRS = "post_poll_queue_pairs";
    public static final String REGIONS = "post_poll_regions";
    public static final String FIRST_POST = "first_post";
    public static final String REGION_CLOSE = "region_close";

    // Connections; those to queue pairs are named by their operation.
    public static final String ROUND_TRIP = "connection_round_trip";
    public static final String STREAM = "connection_stream";
    public static final String READS = "connection_reads";
    public static final String LARGE = "connection_large_messages";
    public static final String CONNECT = "connect";
    public static final String CONNECT_STAGE = "connect_stage";
    public static final String CONNECTION_SET_UP = "connection_set_up";

    // Streams of bytes.
    public static final String STREAM_ROUND_TRIP = "stream_round_trip";
    public static final String STREAM_TRANSFER = "stream_transfer";

    // Metrics: the mean time, the median of times, bytes and operations in a second, and bytes on the heap of Java.
    public static final String TIME = "time";
    public static final String MEDIAN = "p50";
    public static final String BANDWIDTH = "bandwidth";
    public static final String RATE = "rate";
    public static final String ALLOCATED = "allocated";

    // The first one that both sides have measured counts: the fastest one that the machine allows.
    private static final List<String> POLLINGS = List.of("busy", "yield", "events", "await");
    private static final int KIB_64 = 1 << 16;
    private static final int MIB = 1 << 20;

    private static final List<Goal> GOALS = List.of(
            atMost("overhead_batch1", 1.15, "post and poll without a device, one at a time: Java / C",
                    all -> overhead(all, 1)),
            atMost("overhead_batch16", 1.05, "post and poll without a device, 16 at a time: Java / C",
                    all -> overhead(all, 16)),
            atMost("overhead_worst_classic", 1.20, "the worst of all rows without a device, classic calls: Java / C",
                    all -> worst(classic(all))),
            atMost("overhead_geomean_classic", 1.08, "the geometric mean of these rows: Java / C",
                    all -> geometricMean(classic(all))),
            atMost("overhead_worst_extended_batch1", 1.45,
                    "the worst row without a device, extended calls, one at a time: Java / C",
                    all -> worst(extended(all, POST_POLL, 1))),
            atMost("overhead_worst_extended_batch16", 1.30, "the same 16 at a time: Java / C",
                    all -> worst(extended(all, POST_POLL, 16))),
            atMost("overhead_mlx5_batch1", 1.15, "post and poll with libmlx5 without a card, one at a time: Java / C",
                    all -> overMlx5(all, Side.JAVA, 1)),
            atMost("overhead_mlx5_batch16", 1.05, "post and poll with libmlx5 without a card, 16 at a time: Java / C",
                    all -> overMlx5(all, Side.JAVA, 16)),
            atMost("overhead_mlx5_extended_batch1", 1.45, "the same with extended calls, one at a time: Java / C",
                    all -> worst(extended(all, POST_POLL_MLX5, 1))),
            atMost("overhead_mlx5_extended_batch16", 1.30, "the same 16 at a time: Java / C",
                    all -> worst(extended(all, POST_POLL_MLX5, 16))),
            atMost("direct_over_mlx5", 0.6, "classic, one at a time, without a call, in the card's queues: Java / C",
                    all -> overMlx5(all, Side.DIRECT, 1)),
            atMost("first_post_seconds", 1, "from the start of the JVM until the first request has completed",
                    all -> over(all.median(FIRST_POST, TIME, Side.JAVA, Map.of("cache", false)), 1000.0)),
            atMost("region_close_microseconds", 0,
                    "close of a region among 1,000 queue pairs that have all posted since the last close",
                    all -> over(all.median(REGION_CLOSE, TIME, Side.JAVA, Map.of("posts", 1000)), 1000.0)),
            atMost("send_latency", 1.05, "latency of sends: Java / perftest", all -> latency(all, "send")),
            atMost("write_latency", 1.05, "latency of RDMA writes: Java / perftest", all -> latency(all, "write")),
            atMost("read_latency", 1.05, "latency of RDMA reads: Java / perftest", all -> latency(all, "read")),
            atLeast("bandwidth_64k", 0.97, "bandwidth with 64 KiB: Java / perftest", all -> bandwidth(all, KIB_64)),
            atLeast("bandwidth_1m", 0.97, "bandwidth with 1 MiB: Java / perftest", all -> bandwidth(all, MIB)),
            atMost("events_latency", 1.05, "latency of sends of 64 B by events: Java / perftest",
                    all -> waiting(all, "events")),
            atMost("await_latency", 1.05,
                    "latency of sends of 64 B by CompletionQueue.await: Java / perftest by events",
                    all -> waiting(all, "await")),
            atLeast("connect_rate", 0, "connections set up in a second: Java / cmtime",
                    all -> ratio(all, CONNECT, RATE, Map.of())),
            atMost("connection_latency", 1.10, "round trip of 64 B over a connection, polling: Java / perftest",
                    all -> first(polling -> roundTrip(all, polling))),
            atMost("connection_latency_events", 1.15,
                    "round trip of 64 B over a connection, sleeping: Java / perftest",
                    all -> roundTrip(all, "events")),
            atLeast("connection_bandwidth_64k", 0.95,
                    "messages of 64 KiB over a connection, not copied: Java / perftest",
                    all -> connection(all, STREAM, "handler")),
            atLeast("connection_bandwidth_64k_copying", 0.85,
                    "messages of 64 KiB over a connection, copied: Java / perftest",
                    all -> connection(all, STREAM, "receive")),
            atLeast("connection_read_pipeline", 0.95,
                    "reads of 64 KiB over a connection, 16 in flight: Java / perftest",
                    all -> connection(all, READS, "handler")),
            atLeast("connection_large_messages", 0,
                    "messages of 1 MiB over a connection, announced and read: Java / reads of perftest",
                    all -> connection(all, LARGE, "receive")),
            atMost("connection_over_low", 1.05, "round trip of 64 B, polling: connection / queue pair",
                    all -> first(polling -> overQueuePair(all, polling))),
            atLeast("connection_rate", 0.9, "connections with shared receives set up in a second: Java / cmtime",
                    all -> ratio(all, CONNECTION_SET_UP, RATE, Map.of("by", "shared"))),
            atLeast("connection_rate_own", 0.9, "connections with own receives: Java / cmtime that posts one, too",
                    all -> ratio(all, CONNECTION_SET_UP, RATE, Map.of("by", "own"))),
            atMost("stream_latency", 1.10, "round trip of 64 B over a stream, sleeping: Java / rstream",
                    all -> ratio(all, STREAM_ROUND_TRIP, TIME, Map.of("by", "engine", "size", 64))),
            atLeast("stream_bandwidth_64k", 0.95, "transfers of 64 KiB over a stream: Java / rstream",
                    all -> ratio(all, STREAM_TRANSFER, BANDWIDTH, Map.of("by", "engine", "size", KIB_64))),
            atLeast("stream_bandwidth_1m", 0, "transfers of 1 MiB over a stream: Java / rstream",
                    all -> ratio(all, STREAM_TRANSFER, BANDWIDTH, Map.of("by", "engine", "size", MIB))),
            atLeast("nio_stream_latency", 0, "round trip of 64 B with blocking channels of NIO: RDMA / TCP",
                    all -> overTcp(all, "nio", "nio tcp")),
            atMost("netty_latency", 1, "round trip of 64 B with Netty's EpollIoHandler: RDMA / TCP",
                    all -> overTcp(all, "netty epoll", "netty tcp")));

    private Summary() {
    }

    /**
     * A figure and its goal.
     *
     * @param name the name of the figure
     * @param limit the limit; 0 for none
     * @param below whether the figure has to stay below the limit, not above
     * @param meaning what it compares
     * @param figure computes the figure; null if a side was not measured
     */
    record Goal(String name, double limit, boolean below, String meaning, Function<Results, Double> figure) {
        /** {@return the limit as text; empty if there is none} */
        String text() {
            return limit == 0 ? "" : String.format(Locale.ROOT, "%s %.2f", below ? "≤" : "≥", limit);
        }

        /** {@return whether the figure is at least within so many times the goal; true if it was not measured} */
        boolean isMet(Results results, double slack) {
            Double ratio = figure.apply(results);
            return limit == 0 || ratio == null || (below ? ratio <= limit * slack : ratio >= limit / slack);
        }
    }

    private static Goal atMost(String name, double limit, String meaning, Function<Results, Double> figure) {
        return new Goal(name, limit, true, meaning, figure);
    }

    private static Goal atLeast(String name, double limit, String meaning, Function<Results, Double> figure) {
        return new Goal(name, limit, false, meaning, figure);
    }

    static List<Goal> goals() {
        return GOALS;
    }

    /** {@return the figures by name; null if a side was not measured} */
    public static Map<String, Double> of(Results results) {
        Map<String, Double> summary = new LinkedHashMap<>();
        GOALS.forEach(goal -> summary.put(goal.name, goal.figure.apply(results)));
        return summary;
    }

    /** Prints the figures that were measured. */
    public static void print(Results results) {
        of(results).forEach((name, ratio) -> {
            if (ratio != null) {
                System.out.printf("%-32s %.3f%n", name, ratio);
            }
        });
    }

    private static Double overhead(Results all, int batch) {
        return ratio(all, POST_POLL, TIME, Map.of("sges", 1, "inline", false, "calls", "classic", "batch", batch));
    }

    private static Double overMlx5(Results all, Side side, int batch) {
        Map<String, Object> params = Map.of("calls", "classic", "batch", batch);
        return over(all.median(POST_POLL_MLX5, TIME, side, params),
                all.median(POST_POLL_MLX5, TIME, Side.C, params));
    }

    private static List<Double> classic(Results all) {
        List<Double> rows = new ArrayList<>(ratios(all, POST_POLL, TIME, Map.of("calls", "classic")));
        for (String name : List.of(POLL_IN_BATCHES, QUEUE_PAIRS, REGIONS)) {
            rows.addAll(ratios(all, name, TIME, Map.of()));
        }
        return rows;
    }

    private static List<Double> extended(Results all, String name, int batch) {
        return ratios(all, name, TIME, Map.of("calls", "extended", "batch", batch));
    }

    private static Double latency(Results all, String operation) {
        return first(polling -> ratio(all, operation + "_latency", MEDIAN,
                Map.of("transport", "RC", "polling", polling)));
    }

    private static Double waiting(Results all, String polling) {
        return ratio(all, "send_latency", MEDIAN, Map.of("transport", "RC", "polling", polling, "size", 64));
    }

    /** Returns the median over sends, writes and reads. */
    private static Double bandwidth(Results all, int size) {
        return Results.medianOf(Stream.of("send", "write", "read")
                .flatMap(operation -> ratios(all, operation + "_bandwidth", BANDWIDTH, Map.of("size", size)).stream())
                .toList());
    }

    private static Double connection(Results all, String name, String by) {
        return first(polling -> ratio(all, name, BANDWIDTH, Map.of("by", by, "polling", polling)));
    }

    /** Returns the better one of handler and receive. */
    private static Double roundTrip(Results all, String polling) {
        return better(by -> ratio(all, ROUND_TRIP, MEDIAN, Map.of("by", by, "polling", polling)));
    }

    private static Double overQueuePair(Results all, String polling) {
        return better(by -> over(all.median(ROUND_TRIP, MEDIAN, Side.JAVA, Map.of("by", by, "polling", polling)),
                all.median(ROUND_TRIP, MEDIAN, Side.JAVA, Map.of("by", "queue pair", "polling", polling))));
    }

    private static Double overTcp(Results all, String by, String tcp) {
        return over(all.median(STREAM_ROUND_TRIP, TIME, Side.JAVA, Map.of("by", by, "size", 64)),
                all.median(STREAM_ROUND_TRIP, TIME, Side.JAVA, Map.of("by", tcp, "size", 64)));
    }

    private static Double first(Function<String, Double> ratio) {
        return POLLINGS.stream().map(ratio).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static Double better(Function<String, Double> ratio) {
        return Stream.of("handler", "receive").map(ratio).filter(Objects::nonNull).min(Double::compare).orElse(null);
    }

    /** Returns the median of Java / C over all configurations. */
    private static Double ratio(Results all, String name, String metric, Map<String, ?> params) {
        return Results.medianOf(ratios(all, name, metric, params));
    }

    /** Returns Java / C for each configuration that both sides have measured. */
    private static List<Double> ratios(Results all, String name, String metric, Map<String, ?> params) {
        return all.results().stream()
                .filter(result -> result.name().equals(name) && result.metric().equals(metric) && result.has(params))
                .map(Result::configuration).distinct()
                .map(same -> over(all.median(name, metric, Side.JAVA, same), all.median(name, metric, Side.C, same)))
                .filter(Objects::nonNull).toList();
    }

    private static Double worst(List<Double> values) {
        return values.stream().max(Double::compare).orElse(null);
    }

    private static Double geometricMean(List<Double> values) {
        return values.isEmpty() ? null
                : (Double) Math.exp(values.stream().mapToDouble(Math::log).average().getAsDouble());
    }

    private static Double over(Double over, Double under) {
        return over == null || under == null || under == 0 ? null : (Double) (over / under);
    }
}
