// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;

import org.junit.jupiter.api.Test;

class OutcomeTest {
    @Test
    void outcomesTravelAsLines() throws IOException {
        Outcome latencies = Outcome.Latencies.between(new long[] {0, 1000, 3000, 6000}, 1, 1);
        Outcome throughput = Outcome.Throughput.of(3, 2_000_000_000L);

        assertThat(Outcome.parse(latencies.encode())).isEqualTo(latencies);
        assertThat(((Outcome.Latencies) latencies).nanos().getTotalCount()).isEqualTo(2);
        assertThat(Outcome.parse(throughput.encode())).isEqualTo(new Outcome.Throughput(1.5));
    }

    @Test
    void whatIsNoOutcomeIsAFailure() {
        assertThatThrownBy(() -> Outcome.parse("failed because of something")).isInstanceOf(IOException.class)
                .hasMessage("failed because of something");
        assertThatThrownBy(() -> Outcome.parse("latencies bm9uZQ==")).isInstanceOf(IOException.class);
    }
}
