// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.testing.PackageGraph;
import org.junit.jupiter.api.Test;

/** The packages of this module stand in layers. */
class PackageGraphTest {
    @Test
    void arrowsRunDownwards() throws IOException {
        PackageGraph graph = PackageGraph.ofModule();
        System.out.print(graph);

        assertThat(graph.upwards(List.of(
                Set.of("io.rdmacm.bench.overhead.jmh_generated"),
                Set.of("io.rdmacm.bench.device", "io.rdmacm.bench.overhead"),
                Set.of("io.rdmacm.bench.device.stream"),
                Set.of("io.rdmacm.bench.device.measure", "io.rdmacm.bench.device.machine"),
                Set.of("io.rdmacm.bench.report")))).isEmpty();
        assertThat(graph.cycles()).isEmpty();
    }
}
