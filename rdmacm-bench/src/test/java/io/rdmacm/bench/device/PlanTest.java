// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.rdmacm.bench.device.Measurement.Operation;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.Polling;
import org.junit.jupiter.api.Test;

class PlanTest {
    private static final List<Plan> PLANS = List.of(new Plan(true, false), new Plan(true, true),
            new Plan(false, false), new Plan(false, true));

    private static List<Trial> trials(Plan plan) {
        return plan.groups(null, null).stream().flatMap(group -> group.trials().stream()).toList();
    }

    private static Set<Object> ways(List<Trial> trials, String name) {
        return trials.stream().filter(trial -> trial.name().equals(name)).map(trial -> trial.params().get("by"))
                .collect(Collectors.toSet());
    }

    @Test
    void everyPlanHasWhatTheSummaryNeeds() {
        for (Plan plan : PLANS) {
            List<Trial> all = trials(plan);
            assertThat(all).extracting(Trial::toString).doesNotHaveDuplicates();
            assertThat(all).extracting(Trial::name)
                    .contains("send_latency", "write_latency", "read_latency", "connect");
            for (String name : List.of("send_bandwidth", "write_bandwidth", "read_bandwidth")) {
                assertThat(all).filteredOn(trial -> trial.name().equals(name)).extracting(trial -> trial.load().size())
                        .contains(65536, 1 << 20);
            }
            assertThat(ways(all, "connection_round_trip")).contains("receive", "handler", "queue pair");
            assertThat(ways(all, "connection_stream")).contains("receive", "handler");
            assertThat(ways(all, "connection_reads")).contains("handler");
            assertThat(ways(all, "connection_large_messages")).contains("receive");
            assertThat(ways(all, "connection_set_up")).containsExactlyInAnyOrder("shared", "own");
            assertThat(ways(all, "stream_round_trip")).contains("engine", "nio", "nio tcp", "netty epoll", "netty tcp");
            assertThat(all).filteredOn(trial -> trial.name().equals("connection_round_trip"))
                    .extracting(trial -> trial.params().get("polling")).contains("events", "await");
        }
    }

    @Test
    void rstreamStandsBesideTheEngineOnly() {
        for (Trial trial : trials(new Plan(true, true))) {
            assertThat(trial.besideC()).as(trial.toString())
                    .isEqualTo(!trial.name().startsWith("stream_") || trial.params().get("by").equals("engine"));
        }
    }

    @Test
    void theWholePlanHasAllOperationsAndSizes() {
        List<Measurement> all = new Plan(false, true).measurements();
        assertThat(new HashSet<>(all)).as("each once").hasSameSizeAs(all);
        for (Operation operation : List.of(Operation.SEND, Operation.WRITE, Operation.READ)) {
            for (boolean latency : new boolean[] {false, true}) {
                assertThat(all).filteredOn(one -> one.latency() == latency && one.operation() == operation)
                        .extracting(Measurement::size).contains(1, 64, 4096, 65536, 1 << 20, 4 << 20);
            }
        }
        assertThat(all).filteredOn(one -> one.operation() == Operation.ATOMIC).isNotEmpty();
        assertThat(all).extracting(Measurement::polling).contains(Polling.values());
        assertThat(new Plan(true, false).measurements()).hasSizeLessThan(40);
    }

    @Test
    void onOneCpuNoTwoPeersAreBusy() {
        for (Plan plan : List.of(new Plan(true, false), new Plan(false, false))) {
            assertThat(plan.measurements()).filteredOn(one -> one.polling() == Polling.BUSY).isNotEmpty()
                    .noneMatch(one -> one.latency() && one.operation().isAnswered())
                    .noneMatch(one -> one.operation() == Operation.SEND);
        }
    }

    @Test
    void listsOfCpusAreRead() {
        assertThat(Cpus.parse("0")).containsExactly(0);
        assertThat(Cpus.parse("0-2,5,8-9")).containsExactly(0, 1, 2, 5, 8, 9);
        assertThat(new Cpus(List.of(3), true).server()).isEmpty();
        assertThat(new Cpus(List.of(3, 4), true).server()).containsExactly("taskset", "-c", "3");
        assertThat(new Cpus(List.of(3, 4), true).client()).containsExactly("taskset", "-c", "4");
        assertThat(new Cpus(List.of(3, 4), false).client()).isEmpty();
    }
}
