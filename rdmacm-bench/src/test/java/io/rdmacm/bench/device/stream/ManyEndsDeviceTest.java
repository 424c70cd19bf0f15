// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;

import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What few connections take. */
@Nightly
@RequiresRdma
class ManyEndsDeviceTest {
    @ParameterizedTest
    // 16 receives and a send each; all of them together half of that again, because memory is taken in slabs
    @CsvSource({"connections, shared, 0, 32", "connections, own, 64, 136", "netty rdma, small, 1, 64",
        "nio, small, 1, 64"})
    void aRowTellsWhatAnEndTakes(String way, String kind, double leastPinned, double mostPinned) throws Exception {
        List<Double> row = Arrays.stream(ManyEnds.measure(List.of(way, kind, "100")).split("\\|")).skip(1)
                .map(Double::valueOf).toList();
        assertThat(row.get(0)).isEqualTo(100);
        assertThat(row.get(1)).as("heap").isLessThan(200_000);
        assertThat(row.get(3)).as("pinned").isBetween(leastPinned, mostPinned);
        assertThat(row.get(4)).as("files").isBetween(0.0, 5.0);
        assertThat(row.get(6)).as("seconds to open").isPositive();
    }
}
