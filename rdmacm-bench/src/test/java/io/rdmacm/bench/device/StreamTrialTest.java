// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;


import org.junit.jupiter.api.Test;

/** The trials of streams, and what rstream prints. */
class StreamTrialTest {
    @Test
    void bothPlansHaveWhatTheSummaryNeeds() {
        for (Plan plan : List.of(Plan.quick(false, 4096), Plan.full(true, 4096))) {
            assertThat(plan.streams()).hasSize(3).allSatisfy(group -> {
                assertThat(group).extracting(StreamTrial::way).containsExactly(StreamWay.ENGINE);
                assertThat(group).extracting(StreamTrial::size).containsOnly(group.getFirst().size());
            });
            assertThat(plan.streams()).extracting(group -> group.getFirst().size())
                    .containsExactly(64, 65536, 1 << 20);
            assertThat(plan.streams()).extracting(group -> group.getFirst().isLatency())
                    .containsExactly(true, false, false);
        }
    }

    @Test
    void aTrialTravelsAsALine() {
        for (List<StreamTrial> group : Plan.full(true, 4096).streams()) {
            for (StreamTrial one : group) {
                assertThat(StreamTrial.parse(one.encode())).isEqualTo(one);
            }
        }
    }

    @Test
    void rstreamDoesTheSame() {
        assertThat(String.join(" ", Rstream.options(new StreamTrial(StreamWay.ENGINE, 64, 1, 500), 7471)))
                .isEqualTo("rstream -T b -p 7471 -S 64 -B 524288 -C 1 -I 500");
    }

    @Test
    void theOutputOfRstreamIsRead() throws IOException {
        assertThat(RstreamOutput.microsPerTransfer("""
                name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer
                custom    64      1       500     62k         0.03s      0.02      30.25
                """)).isEqualTo(30.25);
        assertThatThrownBy(() -> RstreamOutput.microsPerTransfer("rconnect: Connection refused"))
                .isInstanceOf(IOException.class).hasMessageContaining("refused");
    }
}
