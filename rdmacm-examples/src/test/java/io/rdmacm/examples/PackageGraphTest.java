// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

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
                Set.of("io.rdmacm.examples"),
                Set.of("io.rdmacm.examples.cm", "io.rdmacm.examples.doctor",
                        "io.rdmacm.examples.kvstore", "io.rdmacm.examples.rping", "io.rdmacm.examples.stream",
                        "io.rdmacm.examples.verbs"),
                Set.of("io.rdmacm.examples.support")))).isEmpty();
        assertThat(graph.cycles()).isEmpty();
    }
}
