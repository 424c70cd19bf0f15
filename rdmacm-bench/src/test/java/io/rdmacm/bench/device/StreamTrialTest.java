// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;

import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.RstreamOutput;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.bench.device.stream.StreamWay;
import org.junit.jupiter.api.Test;

/** The trials of streams, and what rstream prints. */
class StreamTrialTest {
    @Test
    void bothPlansHaveWhatTheSummaryNeeds() {
        for (Plan plan : List.of(Plan.quick(false, 4096), Plan.full(true, 4096))) {
            assertThat(plan.streams()).hasSize(3).allSatisfy(group -> {
                assertThat(group.getFirst().way()).as("it stands beside rstream").isEqualTo(StreamWay.ENGINE);
                assertThat(group).extracting(StreamTrial::way).doesNotHaveDuplicates().contains(StreamWay.NIO,
                        StreamWay.NIO_TCP, StreamWay.NETTY_EPOLL, StreamWay.NETTY_RDMA, StreamWay.NETTY_TCP);
                assertThat(group).filteredOn(trial -> trial.way() == StreamWay.NETTY_REGISTERED).as("no short messages")
                        .hasSize(group.getFirst().isLatency() ? 0 : 1);
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
    void theSummaryFindsTheWays() {
        assertThat(List.of(StreamWay.values())).extracting(StreamWay::id).containsExactly("engine", "nio", "nio tcp",
                "netty epoll", "netty registered", "netty rdma", "netty tcp");
    }

    @Test
    void aTrialTellsHowLongItPolls() {
        assertThat(new StreamTrial(StreamWay.NETTY_TCP, 64, 1, 500))
                .hasToString("rsocket round trip by netty tcp, 64 B, polling 0 us before sleeping");
        assertThat(new StreamTrial(StreamWay.ENGINE, 65536, 9, 1)).asString().endsWith("polling "
                + Rstream.polling().toNanos() / 1000 + " us before sleeping");
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
