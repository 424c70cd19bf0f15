// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The goal of a figure of the summary.
 *
 * @param name the name of the figure
 * @param meaning what it compares
 * @param limit the limit; 0 for none
 * @param below whether the figure has to stay below the limit, not above
 */
record Goal(String name, String meaning, double limit, boolean below) {
    private static final List<Goal> ALL = List.of(
            atMost("overhead_batch1", "post and poll without a device, one at a time: Java / C", 1.15),
            atMost("overhead_batch16", "post and poll without a device, 16 at a time: Java / C", 1.05),
            atMost("overhead_worst_classic", "the worst of all rows without a device, classic calls: Java / C", 1.20),
            atMost("overhead_geomean_classic", "the geometric mean of these rows: Java / C", 1.08),
            atMost("overhead_worst_extended", "the worst of all rows without a device, extended calls: Java / C",
                    1.25),
            atMost("overhead_mlx5_batch1", "post and poll with libmlx5 without a card, one at a time: Java / C", 1.15),
            atMost("overhead_mlx5_batch16", "post and poll with libmlx5 without a card, 16 at a time: Java / C", 1.05),
            atMost("direct_over_mlx5", "the same one at a time without a call, in the card's queues: Java / C", 0.6),
            atLeast("jni_over_java", "post and poll without a device: a small JNI binding of our own / Java", 1.5),
            atLeast("naive_over_java", "post and poll without a device: generated bindings used naively / Java", 1.5),
            atLeast("disni_over_java", "post and poll without a device, one at a time: DiSNI / Java", 1.5),
            atLeast("disni_over_java_batch16", "post and poll without a device, 16 at a time: DiSNI / Java", 1.5),
            atMost("first_post_seconds", "from the start of the JVM until the first request has completed", 1),
            atMost("send_latency", "latency of sends: Java / perftest", 1.05),
            atMost("write_latency", "latency of RDMA writes: Java / perftest", 1.05),
            atMost("read_latency", "latency of RDMA reads: Java / perftest", 1.05),
            atLeast("bandwidth_64k", "bandwidth with 64 KiB: Java / perftest", 0.97),
            atLeast("bandwidth_1m", "bandwidth with 1 MiB: Java / perftest", 0.97),
            atMost("events_latency", "latency of sends of 64 B by events: Java / perftest", 1.05),
            atMost("await_latency", "latency of sends of 64 B by CompletionQueue.await: Java / perftest by events",
                    1.05),
            atLeast("connect_rate", "connections set up in a second: Java / cmtime", 0),
            atMost("connection_latency", "round trip of 64 B over a connection, polling: Java / perftest", 1.10),
            atMost("connection_latency_events", "round trip of 64 B over a connection, sleeping: Java / perftest",
                    1.15),
            atLeast("connection_bandwidth_64k", "messages of 64 KiB over a connection, not copied: Java / perftest",
                    0.95),
            atLeast("connection_bandwidth_64k_copying", "messages of 64 KiB over a connection, copied: Java / perftest",
                    0.85),
            atLeast("connection_read_pipeline", "reads of 64 KiB over a connection, 16 in flight: Java / perftest",
                    0.95),
            atMost("connection_over_low", "round trip of 64 B, polling: connection / queue pair", 1.05),
            atLeast("connection_rate", "connections with shared receives set up in a second: Java / cmtime", 0.9),
            atLeast("connection_rate_own", "connections with own receives: Java / cmtime that posts one, too", 0.9),
            atMost("stream_latency", "round trip of 64 B over a stream, sleeping: Java / rstream", 1.10),
            atLeast("stream_bandwidth_64k", "transfers of 64 KiB over a stream: Java / rstream", 0.95),
            atLeast("stream_bandwidth_1m", "transfers of 1 MiB over a stream: Java / rstream", 0),
            new Goal("nio_stream_latency", "round trip of 64 B with blocking channels of NIO: RDMA / TCP", 0, false),
            atMost("netty_latency", "round trip of 64 B with Netty's EpollIoHandler: RDMA / TCP", 1));

    private static Goal atMost(String name, String meaning, double limit) {
        return new Goal(name, meaning, limit, true);
    }

    private static Goal atLeast(String name, String meaning, double limit) {
        return new Goal(name, meaning, limit, false);
    }

    /** {@return the goals of all figures that a summary can have} */
    static List<Goal> all() {
        return ALL;
    }

    /**
     * {@return the goals of the figures that a summary has, measured or not}
     *
     * @param summary the summary
     */
    static List<Goal> of(Map<String, Double> summary) {
        return ALL.stream().filter(goal -> summary.containsKey(goal.name)).toList();
    }

    /** {@return the limit as text; empty if there is none} */
    String text() {
        return limit == 0 ? "" : String.format(Locale.ROOT, "%s %.2f", below ? "≤" : "≥", limit);
    }

    /** {@return the figure as text} */
    String value(Map<String, Double> summary) {
        Double ratio = summary.get(name);
        return ratio == null ? "not run" : String.format(Locale.ROOT, "%.3f", ratio);
    }

    /** {@return whether the goal is met; true if it was not measured} */
    boolean isMet(Map<String, Double> summary) {
        return isMet(summary, 1);
    }

    /** {@return whether the figure is at least within so many times the goal, on a machine that others use too} */
    boolean isMet(Map<String, Double> summary, double slack) {
        Double ratio = summary.get(name);
        return ratio == null || (below ? ratio <= limit * slack : ratio >= limit / slack);
    }
}
