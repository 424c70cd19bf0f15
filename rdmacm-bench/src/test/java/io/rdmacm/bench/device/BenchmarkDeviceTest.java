// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.rdmacm.bench.device.machine.CPrograms;
import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Measurement.Figure;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.bench.device.stream.StreamWay;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The device part, small: both sides give samples, one of each kind. */
@Nightly
@RequiresRdma
class BenchmarkDeviceTest {
    private static final int FEW = 50;
    // of streams: more than a buffer of the largest size
    private static final int TRANSFERS = 3;

    // the two processes of the Java side, for starting them is what takes time
    private static JavaBench java;

    private final Collector collector = new Collector();

    @BeforeAll
    static void start() throws IOException {
        java = new JavaBench(Cpus.find(), 10);
    }

    @AfterAll
    static void stop() {
        java.close();
    }

    private static Measurement measurement(Figure figure, Operation operation, QueuePairType transport,
            Polling polling) {
        return new Measurement(figure, operation, transport, polling,
                operation == Operation.ATOMIC ? Measurement.ATOMIC_SIZE : 64, figure == Figure.LATENCY ? 1 : 8, FEW);
    }

    @Test
    void theJavaSideMeasuresEachKind() throws Exception {
        List<Measurement> kinds = List.of(
                measurement(Figure.LATENCY, Operation.SEND, QueuePairType.RC, Polling.EVENTS),
                measurement(Figure.LATENCY, Operation.SEND, QueuePairType.UD, Polling.AWAIT),
                measurement(Figure.LATENCY, Operation.WRITE, QueuePairType.RC, Polling.YIELD),
                measurement(Figure.LATENCY, Operation.ATOMIC, QueuePairType.RC, Polling.AWAIT),
                measurement(Figure.BANDWIDTH, Operation.SEND, QueuePairType.RC, Polling.YIELD),
                measurement(Figure.BANDWIDTH, Operation.READ, QueuePairType.RC, Polling.BUSY));
        for (Measurement kind : kinds) {
            Outcome outcome = java.run(kind);
            if (outcome instanceof Outcome.Latencies latencies) {
                assertThat(latencies.nanos().getTotalCount()).as(kind.toString()).isEqualTo(FEW);
            }
            collector.add(kind, Side.JAVA, 0, outcome);
            collector.finish(kind);
        }
        for (Measurement kind : kinds) {
            assertThat(collector.results()).filteredOn(result -> result.name().equals(kind.name())).isNotEmpty()
                    .allMatch(result -> result.value() > 0);
        }
    }

    @Test
    void bothSidesMeasureTheSame() throws Exception {
        assumeTrue(Commands.find("ib_read_lat").isPresent(), "perftest is not installed");
        assumeTrue(Commands.find("gcc").isPresent(), "gcc is not installed");
        List<Measurement> kinds = List.of(
                measurement(Figure.LATENCY, Operation.READ, QueuePairType.RC, Polling.BUSY),
                measurement(Figure.LATENCY, Operation.SEND, QueuePairType.RC, Polling.YIELD),
                measurement(Figure.BANDWIDTH, Operation.WRITE, QueuePairType.RC, Polling.BUSY));
        try (CPrograms programs = new CPrograms(); Perftest c = new Perftest(Port.find(), Cpus.find(), programs)) {
            for (Measurement kind : kinds) {
                assertThat(DeviceBenchmark.compare(kind, java, c, 1, collector)).contains("ratio");
                assertThat(programs.elapsed().toFile().exists()).as("told by what is preloaded into perftest")
                        .isEqualTo(kind.polling() == Polling.YIELD);
            }
            Registrations.run(Port.find(), programs,
                    new Plan(List.of(), List.of(), List.of(), List.of(), 1, 1, 0, 0, 0, 3, List.of(4096), 0),
                    collector);
        }
        for (String name : List.of("read_latency", "send_latency", "write_bandwidth", "registration")) {
            assertThat(collector.results()).filteredOn(result -> result.name().equals(name))
                    .extracting(Result::side).contains(Side.JAVA, Side.C);
        }
    }

    @Test
    void everyTrialOverConnectionsRuns() throws Exception {
        for (Trial trial : Plan.quick(false, 4096).trials()) {
            if (trial.way() != Trial.Way.QUEUE_PAIR) {
                Trial few = trial.with(Math.min(trial.size(), 4096), FEW);
                collector.add(few, Side.JAVA, 0, java.run(few, bytes -> collector.addAllocated(few, 0, bytes)), 1);
            }
        }
        for (Trial.Pattern pattern : Trial.Pattern.values()) {
            String metric = pattern.isLatency() ? "p50" : "bandwidth";
            assertThat(collector.results()).filteredOn(result -> result.name().equals(pattern.id())
                    && result.metric().equals(metric)).isNotEmpty().allMatch(result -> result.value() > 0);
            assertThat(collector.results()).filteredOn(result -> result.name().equals(pattern.id())
                    && result.metric().equals("allocated")).isNotEmpty().allMatch(result -> result.value() >= 0);
        }
    }

    @Test
    void trialsStandBesidePerftest() throws Exception {
        assumeTrue(Commands.find("ib_send_lat").isPresent(), "perftest is not installed");
        assumeTrue(Commands.find("gcc").isPresent(), "gcc is not installed");
        List<Trial> trials = List.of(new Trial(Trial.Pattern.ROUND_TRIP, Trial.Way.RECEIVE, Polling.YIELD, 64, 1, FEW),
                new Trial(Trial.Pattern.ROUND_TRIP, Trial.Way.QUEUE_PAIR, Polling.YIELD, 64, 1, FEW),
                new Trial(Trial.Pattern.ROUND_TRIP, Trial.Way.TCP, Polling.YIELD, 64, 1, FEW));
        try (CPrograms programs = new CPrograms(); Perftest c = new Perftest(Port.find(), Cpus.find(), programs)) {
            Trials.run(trials, java, java, c, 1, collector);
        }
        assertThat(collector.results()).filteredOn(result -> result.metric().equals("p50"))
                .extracting(Result::side, result -> result.params().get("by")).containsExactlyInAnyOrder(
                        tuple(Side.JAVA, "receive"), tuple(Side.JAVA, "queue pair"), tuple(Side.JAVA, "tcp"),
                        tuple(Side.C, "receive"), tuple(Side.C, "queue pair"));
    }

    @Test
    void streamsStandBesideRstream() throws Exception {
        assumeTrue(Commands.find("rstream").isPresent(), "rstream (rdmacm-utils) is not installed");
        for (List<StreamTrial> group : StreamTrial.groups(FEW, FEW)) {
            List<StreamTrial> few = group.stream().map(trial -> trial.isLatency() ? trial : trial.with(TRANSFERS, 1))
                    .toList();
            StreamTrials.run(few, java, new Rstream(Port.find(), Cpus.find()), 1, collector);
        }
        assertStreams("stream_round_trip", 64, StreamWay::copies);
        assertStreams("stream_transfer", 1 << 16, way -> true);
        assertStreams("stream_transfer", 1 << 20, way -> true);
    }

    private void assertStreams(String name, int size, Predicate<StreamWay> measured) {
        List<Result> all = collector.results().stream().filter(result -> result.name().equals(name)
                && result.has(Map.of("size", size))).toList();
        Tuple[] ways = Stream.concat(Stream.of(tuple(Side.C, "engine")), Arrays.stream(StreamWay.values())
                .filter(way -> measured.test(way) && way.problem().isEmpty())
                .map(way -> tuple(Side.JAVA, way.id()))).toArray(Tuple[]::new);
        assertThat(all).filteredOn(result -> !result.metric().equals("allocated")).as(name + " of " + size)
                .allMatch(result -> result.value() > 0)
                .extracting(Result::side, result -> result.params().get("by")).containsExactlyInAnyOrder(ways);
        assertThat(all).filteredOn(result -> result.metric().equals("allocated")).hasSize(ways.length - 1)
                .allMatch(result -> result.value() >= 0);
    }

    @Test
    void connectionsAreSetUpOnBothSides() throws Exception {
        assumeTrue(Commands.find("cmtime").isPresent(), "cmtime (rdmacm-utils) is not installed");
        assumeTrue(Commands.find("rdma").isPresent(), "rdma (iproute2) is not installed");
        Plan plan = new Plan(List.of(), List.of(), List.of(), List.of(), 1, 1, 0, 3, 0, 0, List.of(), 0);
        try (CPrograms programs = new CPrograms()) {
            Connections.run(Port.find(), java, Cpus.find(), programs, plan, collector);
        }

        assertThat(collector.results()).filteredOn(result -> result.name().equals("connect"))
                .extracting(Result::side, Result::params)
                .contains(tuple(Side.JAVA, Map.of("connections", 3L, "round", 0L)),
                        tuple(Side.C, Map.of("connections", 3L, "round", 0L)));
        assertThat(collector.results()).filteredOn(result -> result.name().equals("connection_set_up"))
                .extracting(Result::side, result -> result.params().get("by")).contains(tuple(Side.JAVA, "shared"),
                        tuple(Side.JAVA, "own"), tuple(Side.JAVA, "queues"), tuple(Side.C, "shared"),
                        tuple(Side.C, "own"), tuple(Side.C, "queues"));
        assertThat(collector.results()).filteredOn(result -> result.name().equals("connect_stage"))
                .extracting(result -> result.params().get("stage")).contains("create id", "connect", "destroy");
    }

    @Test
    void manyConnectionsTellWhatTheyTake() throws Exception {
        ManyConnections.run(Cpus.find(), 50, collector);

        assertThat(collector.results()).extracting(Result::name).containsOnly(ManyConnections.NAME);
        for (String receives : List.of("shared", "own")) {
            assertThat(figure("heap", receives)).isBetween(500.0, 200_000.0);
            assertThat(figure("files", receives)).isBetween(0.0, 5.0);
            assertThat(figure("set_up", receives)).isPositive();
            assertThat(figure("exchange", receives)).isPositive();
        }
        // 16 receives and a send each; all of them together half of that again, because memory is taken in slabs
        assertThat(figure("registered", "own")).isBetween(16 * 4096.0, 2 * 17 * 4096.0);
        assertThat(figure("registered", "shared")).isBetween(0.0, 8 * 4096.0);
    }

    private double figure(String metric, String receives) {
        return collector.results().stream().filter(result -> result.metric().equals(metric)
                && result.params().get("receives").equals(receives)).findFirst().orElseThrow().value();
    }
}
