// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class SummaryTest {
    private final List<Result> results = new ArrayList<>();

    /** One result for each value, as rounds. */
    private void add(String name, Side side, Map<String, Object> params, String metric, double... values) {
        for (int round = 0; round < values.length; round++) {
            Map<String, Object> all = new HashMap<>(params);
            all.put(Result.ROUND, round);
            results.add(new Result(name, side, all, metric, "unit", values[round]));
        }
    }

    private Double ratio(String name) {
        return Summary.of(new Results(Map.of(), results)).get(name);
    }

    @Test
    void withoutResultsEveryRatioIsNull() {
        assertThat(Summary.of(new Results(Map.of(), List.of()))).isNotEmpty().allSatisfy((name, ratio) ->
                assertThat(ratio).as(name).isNull());
    }

    @Test
    void overheadIsTakenAtItsBatchOnly() {
        for (int batch : new int[] {1, 16}) {
            Map<String, Object> params = Map.of("batch", batch, "sges", 1, "inline", false, "calls", "classic");
            add("post_poll", Side.JAVA, params, "time", 20, 21.0 + batch, 90);
            add("post_poll", Side.C, params, "time", 20);
        }
        add("post_poll", Side.C, Map.of("batch", 1, "sges", 2, "inline", false, "calls", "classic"), "time", 1);
        add("post_poll", Side.C, Map.of("batch", 1, "sges", 1, "inline", false, "calls", "extended"), "time", 1);

        assertThat(ratio("overhead_batch1")).isEqualTo(1.1, within(1e-9));
        assertThat(ratio("overhead_batch16")).isEqualTo(1.85, within(1e-9));
    }

    @Test
    void streamsAreComparedWithRstreamByTheEngine() {
        for (int size : new int[] {64 * 1024, 1024 * 1024}) {
            Map<String, Object> engine = Map.of("by", "engine", "size", size);
            add("stream_transfer", Side.JAVA, engine, "bandwidth", 400);
            add("stream_transfer", Side.C, engine, "bandwidth", size == 1024 * 1024 ? 100 : 500);
        }
        add("stream_round_trip", Side.JAVA, Map.of("by", "engine", "size", 64), "time", 66);
        add("stream_round_trip", Side.C, Map.of("by", "engine", "size", 64), "time", 60);
        add("stream_round_trip", Side.JAVA, Map.of("by", "nio tcp", "size", 64), "time", 10);

        assertThat(ratio("stream_latency")).isEqualTo(1.1, within(1e-9));
        assertThat(ratio("stream_bandwidth_64k")).isEqualTo(0.8, within(1e-9));
        assertThat(ratio("stream_bandwidth_1m")).isEqualTo(4, within(1e-9));
    }

    @Test
    void nioAndNettyAreComparedWithThemselvesOverTcp() {
        Map.of("nio", 90, "nio tcp", 60, "netty epoll", 77, "netty tcp", 110, "netty rdma", 1).forEach((by, time) ->
                add("stream_round_trip", Side.JAVA, Map.of("by", by, "size", 64), "time", time));
        add("stream_round_trip", Side.JAVA, Map.of("by", "netty tcp", "size", 128), "time", 1, 1);

        assertThat(ratio("nio_stream_latency")).isEqualTo(1.5, within(1e-9));
        assertThat(ratio("netty_latency")).isEqualTo(0.7, within(1e-9));
        assertThat(ratio("stream_latency")).isNull();
    }

    @Test
    void theWorstRowAndTheMeanAreOfTheMediansOfEachRow() {
        for (String calls : List.of("classic", "extended")) {
            double slower = calls.equals("classic") ? 1 : 3;
            for (int batch : new int[] {1, 16}) {
                Map<String, Object> params = Map.of("batch", batch, "calls", calls);
                add("post_poll", Side.JAVA, params, "time", 10, 10 + slower, 99);
                add("post_poll", Side.C, params, "time", 10);
                add("post_poll", Side.JAVA, params, "allocation", 0);
            }
        }
        add("poll_in_batches", Side.JAVA, Map.of("polled", 2), "time", 10);
        add("poll_in_batches", Side.C, Map.of("polled", 2), "time", 10);
        add("post_poll_queue_pairs", Side.JAVA, Map.of("queue_pairs", 10), "time", 12);
        add("post_poll_queue_pairs", Side.C, Map.of("queue_pairs", 10), "time", 10);
        add("post_poll_regions", Side.JAVA, Map.of("regions", 10), "time", 9);
        add("post_poll_regions", Side.C, Map.of("regions", 10), "time", 10);

        assertThat(ratio("overhead_worst_classic")).isEqualTo(1.2, within(1e-9));
        assertThat(ratio("overhead_geomean_classic")).isEqualTo(Math.pow(1.1 * 1.1 * 1.2 * 0.9, 0.2), within(1e-9));
        assertThat(ratio("overhead_worst_extended_batch1")).isEqualTo(1.3, within(1e-9));
        assertThat(ratio("overhead_worst_extended_batch16")).isEqualTo(1.3, within(1e-9));
    }

    @Test
    void overheadWithLibmlx5IsThatOfEachKindOfCalls() {
        for (int batch : new int[] {1, 16}) {
            for (String calls : List.of("classic", "extended")) {
                Map<String, Object> params = Map.of("calls", calls, "batch", batch);
                add("post_poll_mlx5", Side.JAVA, params, "time", batch + (calls.equals("classic") ? 11 : 90));
                add("post_poll_mlx5", Side.C, params, "time", 10);
            }
            add("post_poll_mlx5", Side.DIRECT, Map.of("calls", "classic", "batch", batch), "time", batch + 13);
        }

        assertThat(ratio("overhead_mlx5_batch1")).isEqualTo(1.2, within(1e-9));
        assertThat(ratio("overhead_mlx5_batch16")).isEqualTo(2.7, within(1e-9));
        assertThat(ratio("direct_over_mlx5")).isEqualTo(1.4, within(1e-9));
        assertThat(ratio("overhead_mlx5_extended_batch1")).isEqualTo(9.1, within(1e-9));
        assertThat(ratio("overhead_mlx5_extended_batch16")).isEqualTo(10.6, within(1e-9));
        assertThat(ratio("overhead_worst_extended_batch1")).isNull();
    }

    @Test
    void latenciesAreComparedSizeBySize() {
        add("send_latency", Side.JAVA, latency("yield", 1), "p50", 11, 100, 10.8);
        add("send_latency", Side.C, latency("yield", 1), "p50", 10, 10, 1);
        add("send_latency", Side.JAVA, latency("yield", 1024), "p50", 21);
        add("send_latency", Side.C, latency("yield", 1024), "p50", 20);
        add("send_latency", Side.JAVA, latency("yield", 4096), "p50", 40);
        add("send_latency", Side.C, latency("yield", 1), "p99", 1);
        add("send_latency", Side.JAVA, latency("events", 1), "p50", 1);
        add("send_latency", Side.C, latency("events", 1), "p50", 20);
        add("send_latency", Side.JAVA, latency("busy", 1), "p50", 1);

        assertThat(ratio("send_latency")).as("the median of 1.1 and 1.05 of the first way that both have")
                .isEqualTo(1.075, within(1e-9));
        assertThat(ratio("write_latency")).isNull();
    }

    private static Map<String, Object> latency(String polling, int size) {
        return Map.of("transport", "RC", "polling", polling, "size", size);
    }

    @Test
    void bandwidthTakesAllOperationsOfOneSize() {
        add("send_bandwidth", Side.JAVA, Map.of("size", 65536), "bandwidth", 90);
        add("send_bandwidth", Side.C, Map.of("size", 65536), "bandwidth", 100);
        add("read_bandwidth", Side.JAVA, Map.of("size", 65536), "bandwidth", 110);
        add("read_bandwidth", Side.C, Map.of("size", 65536), "bandwidth", 100);
        add("write_bandwidth", Side.JAVA, Map.of("size", 1 << 20), "bandwidth", 97);
        add("write_bandwidth", Side.C, Map.of("size", 1 << 20), "bandwidth", 100);

        assertThat(ratio("bandwidth_64k")).isEqualTo(1.0, within(1e-9));
        assertThat(ratio("bandwidth_1m")).isEqualTo(0.97, within(1e-9));
    }

    @Test
    void waitingIsComparedWithEventsOfPerftest() {
        for (String polling : List.of("events", "await")) {
            add("send_latency", Side.C, latency(polling, 64), "p50", 20);
            add("send_latency", Side.C, latency(polling, 512), "p50", 1);
        }
        add("send_latency", Side.JAVA, latency("events", 64), "p50", 22);
        add("send_latency", Side.JAVA, latency("await", 64), "p50", 15);

        assertThat(ratio("events_latency")).isEqualTo(1.1, within(1e-9));
        assertThat(ratio("await_latency")).isEqualTo(0.75, within(1e-9));
    }

    @Test
    void connectionsAreComparedInTheBetterWay() {
        for (String polling : List.of("yield", "events")) {
            add("connection_round_trip", Side.JAVA, by("receive", polling), "p50", 66, 70, 66);
            add("connection_round_trip", Side.JAVA, by("handler", polling), "p50", 63);
            add("connection_round_trip", Side.C, by("receive", polling), "p50", 60);
            add("connection_round_trip", Side.C, by("handler", polling), "p50", 60);
        }
        add("connection_round_trip", Side.JAVA, by("queue pair", "yield"), "p50", 50);
        add("connection_round_trip", Side.JAVA, by("queue pair", "events"), "p50", 1);
        add("connection_round_trip", Side.JAVA, by("tcp", "events"), "p50", 1);
        add("connection_round_trip", Side.JAVA, by("receive", "yield"), "allocated", 50);

        assertThat(ratio("connection_latency")).isEqualTo(1.05, within(1e-9));
        assertThat(ratio("connection_latency_events")).isEqualTo(1.05, within(1e-9));
        assertThat(ratio("connection_over_low")).as("63 / 50").isEqualTo(1.26, within(1e-9));
        assertThat(ratio("send_latency")).isNull();
    }

    @Test
    void connectionStreamsAreToldApart() {
        add("connection_stream", Side.JAVA, by("handler", "yield"), "bandwidth", 96);
        add("connection_stream", Side.JAVA, by("receive", "yield"), "bandwidth", 87);
        add("connection_stream", Side.JAVA, by("handler", "await"), "bandwidth", 500);
        add("connection_reads", Side.JAVA, by("handler", "busy"), "bandwidth", 99);
        for (String way : List.of("handler", "receive")) {
            add("connection_stream", Side.C, by(way, "yield"), "bandwidth", 100);
            add("connection_stream", Side.C, by(way, "await"), "bandwidth", 100);
            add("connection_reads", Side.C, by(way, "busy"), "bandwidth", 100);
        }
        add("connection_large_messages", Side.JAVA, by("receive", "busy"), "bandwidth", 80);
        add("connection_large_messages", Side.C, by("receive", "busy"), "bandwidth", 100);
        add("connection_set_up", Side.JAVA, Map.of("by", "shared", "connections", 100), "rate", 850);
        add("connection_set_up", Side.JAVA, Map.of("by", "own", "connections", 100), "rate", 100);
        add("connection_set_up", Side.C, Map.of("by", "own", "connections", 100), "rate", 125);
        add("connection_set_up", Side.C, Map.of("by", "shared", "connections", 100), "rate", 1000);

        assertThat(ratio("connection_bandwidth_64k")).isEqualTo(0.96, within(1e-9));
        assertThat(ratio("connection_bandwidth_64k_copying")).isEqualTo(0.87, within(1e-9));
        assertThat(ratio("connection_read_pipeline")).isEqualTo(0.99, within(1e-9));
        assertThat(ratio("connection_large_messages")).isEqualTo(0.8, within(1e-9));
        assertThat(ratio("connection_rate")).isEqualTo(0.85, within(1e-9));
        assertThat(ratio("connection_rate_own")).isEqualTo(0.8, within(1e-9));
        assertThat(ratio("bandwidth_64k")).isNull();
    }

    private static Map<String, Object> by(String way, String polling) {
        return Map.of("by", way, "polling", polling, "size", 64);
    }
}
