// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;

import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.measure.Trial.Pattern;
import io.rdmacm.bench.device.measure.Trial.Way;
import org.junit.jupiter.api.Test;

class TrialTest {
    @Test
    void everyPlanHasWhatTheSummaryNeeds() {
        for (Plan plan : List.of(Plan.quick(false, 4096), Plan.full(true, 4096))) {
            List<Trial> all = plan.trials();
            assertThat(new HashSet<>(all)).as("each once").hasSameSizeAs(all);
            for (Pattern pattern : Pattern.values()) {
                assertThat(all).filteredOn(one -> one.pattern() == pattern).extracting(Trial::way)
                        .contains(Way.HANDLER, Way.QUEUE_PAIR);
            }
            assertThat(all).filteredOn(one -> one.pattern() == Pattern.ROUND_TRIP)
                    .extracting(Trial::polling).contains(Polling.EVENTS, Polling.AWAIT);
            assertThat(all).filteredOn(one -> one.pattern() == Pattern.STREAM).extracting(Trial::way)
                    .contains(Way.RECEIVE, Way.TCP);
            assertThat(all).filteredOn(one -> one.pattern() != Pattern.ROUND_TRIP)
                    .allMatch(one -> one.size() == 65536 && one.depth() == 16);
        }
    }

    @Test
    void onOneCpuNoTwoPeersAreBusy() {
        assertThat(Plan.quick(false, 4096).trials()).filteredOn(one -> one.polling() == Polling.BUSY)
                .allMatch(one -> one.pattern() == Pattern.READS);
        assertThat(Plan.quick(true, 4096).trials()).extracting(Trial::polling).doesNotContain(Polling.YIELD);
    }

    @Test
    void jucxPollsAndOnlyWhereItIsAskedFor() {
        for (Plan plan : List.of(Plan.quick(false, 4096), Plan.full(true, 4096))) {
            assertThat(plan.trials()).extracting(Trial::way).doesNotContain(Way.JUCX);
            assertThat(plan.withJucx().trials()).containsAll(plan.trials()).filteredOn(one -> one.way() == Way.JUCX)
                    .noneMatch(one -> one.polling().usesEvents())
                    .extracting(Trial::pattern).containsExactlyInAnyOrder(Pattern.ROUND_TRIP, Pattern.STREAM);
            assertThat(Trials.groups(plan.withJucx().trials())).hasSameSizeAs(Trials.groups(plan.trials()));
        }
    }

    @Test
    void aTrialTravelsAsALine() {
        for (Trial one : Plan.full(true, 4096).trials()) {
            assertThat(Trial.parse(one.encode())).isEqualTo(one);
        }
    }

    @Test
    void trialsWithTheSameReferenceStandTogether() {
        List<Trial> all = Plan.full(false, 4096).trials();

        assertThat(Trials.groups(all)).allSatisfy(group ->
                assertThat(group).extracting(Trial::reference).containsOnly(group.getFirst().reference()));
        assertThat(Trials.groups(all).stream().mapToInt(List::size).sum()).isEqualTo(all.size());
        assertThat(Trials.groups(all)).as("round trips and streams in each way of waiting, and reads").hasSize(6);
    }

    @Test
    void aRoundTripIsTwiceWhatPerftestTells() {
        assertThat(Pattern.ROUND_TRIP.parts()).isEqualTo(2);
        assertThat(Pattern.STREAM.parts()).isOne();
    }
}
