// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.List;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Measurement.Figure;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.queue.QueuePairType;
import org.junit.jupiter.api.Test;

class PlanTest {
    @Test
    void theWholePlanHasAllOperationsAndSizes() {
        List<Measurement> all = Plan.full(true, 4096).measurements();

        assertThat(new HashSet<>(all)).as("each once").hasSameSizeAs(all);
        for (Figure figure : Figure.values()) {
            for (Operation operation : List.of(Operation.SEND, Operation.WRITE, Operation.READ)) {
                assertThat(all).filteredOn(one -> one.figure() == figure && one.operation() == operation)
                        .extracting(Measurement::size).contains(1, 64, 4096, 65536, 1 << 20, 4 << 20);
            }
        }
        assertThat(all).filteredOn(one -> one.operation() == Operation.ATOMIC).isNotEmpty();
        assertThat(all).filteredOn(one -> one.transport() == QueuePairType.UD).isNotEmpty()
                .allMatch(one -> one.size() <= 4096);
        assertThat(all).extracting(Measurement::depth).contains(1, 2, 4, 8, 16, 32, 64, 128);
        assertThat(all).extracting(Measurement::polling).contains(Polling.values());
    }

    @Test
    void onOneCpuNoTwoPeersAreBusy() {
        for (Plan plan : List.of(Plan.full(false, 1024), Plan.quick(false, 1024))) {
            assertThat(plan.measurements()).filteredOn(one -> one.polling() == Polling.BUSY).isNotEmpty()
                    .noneMatch(one -> one.figure() == Figure.LATENCY && one.operation().isAnswered())
                    .noneMatch(one -> one.operation() == Operation.SEND);
        }
    }

    @Test
    void theQuickPlanHasWhatTheSummaryNeeds() {
        List<Measurement> all = Plan.quick(false, 4096).measurements();

        assertThat(all).hasSizeLessThan(40);
        assertThat(all).filteredOn(one -> one.figure() == Figure.BANDWIDTH).extracting(Measurement::size)
                .contains(65536, 1 << 20);
        assertThat(all).filteredOn(one -> one.figure() == Figure.LATENCY).extracting(Measurement::operation)
                .contains(Operation.values());
    }

    @Test
    void aMeasurementTravelsAsALine() {
        for (Measurement one : Plan.full(true, 4096).measurements()) {
            assertThat(Measurement.parse(one.encode())).isEqualTo(one);
        }
    }

    @Test
    void whatNeitherSideCanDoIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Measurement(Figure.LATENCY, Operation.READ,
                QueuePairType.UD, Polling.BUSY, 64, 1, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> new Measurement(Figure.LATENCY, Operation.WRITE,
                QueuePairType.RC, Polling.EVENTS, 64, 1, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> new Measurement(Figure.LATENCY, Operation.ATOMIC,
                QueuePairType.RC, Polling.BUSY, 64, 1, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> new Measurement(Figure.LATENCY, Operation.SEND,
                QueuePairType.RC, Polling.BUSY, 64, 2, 10));
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
