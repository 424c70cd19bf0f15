// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;

import org.junit.jupiter.api.Test;

class CmtimeOutputTest {
    private static final String OUTPUT = """
            creating id
            resolving address
            resolving route
            creating qp
            connecting
            disconnecting
            destroying id
            step              total ms     max ms     min us  us / conn
            create id    :        1.05       0.06      15.00     21.00
            resolve addr :        5.40       5.03    4377.00    108.00
            resolve route:        2.20       2.05    1000.00     44.00
            create qp    :       12.00       0.54     203.00    240.00
            connect      :       70.10      61.24    9375.00   1402.00
            disconnect   :       36.20      31.90    4011.00    724.00
            destroy      :        1.00       0.05      13.00     20.00
            """;

    @Test
    void theLastColumnIsTheTimeOfAConnection() throws IOException {
        assertThat(CmtimeOutput.stages(OUTPUT)).containsEntry("create id", 21.0).containsEntry("resolve addr", 108.0)
                .containsEntry("resolve route", 44.0).containsEntry("create qp", 240.0)
                .containsEntry("connect", 1402.0).containsEntry("disconnect", 724.0).containsEntry("destroy", 20.0)
                .hasSize(7);
    }

    @Test
    void aRunWithFailuresDoesNotCount() {
        assertThatThrownBy(() -> CmtimeOutput.stages("event: RDMA_CM_EVENT_REJECTED, error: 8\n" + OUTPUT))
                .isInstanceOf(IOException.class).hasMessageContaining("REJECTED");
        assertThatThrownBy(() -> CmtimeOutput.stages("creating id\n")).isInstanceOf(IOException.class);
    }
}
