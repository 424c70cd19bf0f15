// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.device.measure.End.Load;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The device part, small: both sides give figures, of each kind. */
@Nightly
@RequiresRdma
class BenchmarkDeviceTest {
    private static final int FEW = 50;
    private static final Load NONE = new Load(0, 0, 0);

    // the two processes of the Java side, for starting them is what takes time
    private static JavaSide java;
    private static Programs programs;
    private static List<Trial.Group> groups;
    private final Rounds rounds = new Rounds();

    @BeforeAll
    static void start() throws IOException {
        java = new JavaSide(Cpus.find());
        programs = new Programs(Cpus.find());
        groups = new Plan(true, Cpus.find().enoughForTwo()).groups(Port.find(), programs);
    }

    @AfterAll
    static void stop() throws IOException {
        java.close();
        programs.close();
    }

    /** Measures trials that a name has, few times, beside C where it runs but for a moment. */
    private void run(Predicate<String> name, boolean c) throws InterruptedException {
        for (Trial.Group group : groups) {
            if (name.test(group.trials().getFirst().name())) {
                rounds.run(new Trial.Group(c ? group.c() : null, group.trials().stream().map(trial -> new Trial(
                        trial.name(), trial.params(), trial.opener(), new Load(trial.load().size(), 1,
                                Math.min(FEW, trial.load().iterations())), NONE, trial.besideC())).toList(), 1), java);
            }
        }
    }

    private List<Result> results(String metric, Side side) {
        return rounds.results().stream().filter(result -> result.metric().equals(metric) && result.side() == side)
                .toList();
    }

    private long trials(Predicate<String> name) {
        return groups.stream().flatMap(group -> group.trials().stream()).map(Trial::name).filter(name).count();
    }

    @Test
    void javaMeasuresEachKindOfOperation() throws Exception {
        run(name -> name.endsWith("_latency"), false);
        run(name -> name.endsWith("_bandwidth"), false);
        assertThat(results("p50", Side.JAVA)).hasSize((int) trials(name -> name.endsWith("_latency")))
                .allMatch(result -> result.value() > 0);
        assertThat(results("bandwidth", Side.JAVA)).hasSize((int) trials(name -> name.endsWith("_bandwidth")))
                .allMatch(result -> result.value() > 0);
    }

    @Test
    void perftestMeasuresTheSame() throws Exception {
        assumeTrue(Programs.exists("ib_read_lat"), "perftest is not installed");
        assumeTrue(Programs.exists("gcc"), "gcc is not installed");
        Perftest perftest = new Perftest(Port.find(), programs);
        Measurement latency = new Plan(true, false).measurements().getFirst();
        Measurement bandwidth = new Plan(true, false).measurements().getLast();
        assertThat(latency.name()).isEqualTo("send_latency");
        assertThat(bandwidth.name()).isEqualTo("read_bandwidth");
        for (Measurement one : List.of(latency, bandwidth)) {
            rounds.run(new Trial.Group(() -> perftest.run(one),
                    List.of(Trial.of(one.name(), one.params(), one, one.size(), FEW, NONE)), 1), java);
        }
        for (String metric : List.of("p50", "bandwidth")) {
            for (Side side : List.of(Side.JAVA, Side.C)) {
                assertThat(results(metric, side)).as(metric + " " + side).hasSize(1)
                        .allMatch(result -> result.value() > 0);
            }
        }
        assertThat(programs.file("elapsed").toFile()).as("told by what is preloaded into perftest, of sends only")
                .doesNotExist();
    }

    @Test
    void everyTrialOverConnectionsRuns() throws Exception {
        Predicate<String> ofConnections = name -> name.startsWith("connection_") && !name.equals("connection_set_up");
        run(ofConnections, false);
        assertThat(Stream.concat(results("p50", Side.JAVA).stream(), results("bandwidth", Side.JAVA).stream()))
                .hasSize((int) trials(ofConnections)).allMatch(result -> result.value() > 0);
        assertThat(results("allocated", Side.JAVA)).extracting(result -> result.params().get("by"))
                .contains("receive", "handler").doesNotContain("queue pair");
    }

    @Test
    void streamsStandBesideRstream() throws Exception {
        assumeTrue(Programs.exists("rstream"), "rstream (rdmacm-utils) is not installed");
        Predicate<String> ofStreams = name -> name.startsWith("stream_");
        run(ofStreams, true);
        assertThat(Stream.concat(results("time", Side.JAVA).stream(), results("bandwidth", Side.JAVA).stream()))
                .hasSize((int) trials(ofStreams)).allMatch(result -> result.value() > 0);
        assertThat(Stream.concat(results("time", Side.C).stream(), results("bandwidth", Side.C).stream())).hasSize(3)
                .allMatch(result -> result.params().get("by").equals("engine"));
    }

    @Test
    void connectionsAreSetUpOnBothSides() throws Exception {
        assumeTrue(Programs.exists("cmtime"), "cmtime (rdmacm-utils) is not installed");
        run(name -> name.equals("connect") || name.equals("connection_set_up"), true);
        for (Side side : List.of(Side.JAVA, Side.C)) {
            assertThat(results("rate", side)).hasSize(3).allMatch(result -> result.value() > 0);
            assertThat(results("time", side)).allMatch(result -> result.name().equals("connect_stage"))
                    .extracting(result -> result.params().get("stage")).contains("create id", "connect", "destroy");
        }
    }
}
