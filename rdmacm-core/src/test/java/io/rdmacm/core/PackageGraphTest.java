// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

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
                Set.of("io.rdmacm.core.nio"),
                Set.of("io.rdmacm.core.stream"),
                Set.of("io.rdmacm.core.connection"),
                Set.of("io.rdmacm.core.internal.engine"),
                Set.of("io.rdmacm.core.internal.sockets"),
                Set.of("io.rdmacm.core"),
                Set.of("io.rdmacm.core.internal.jfr")))).isEmpty();
        assertThat(graph.cycles()).isEmpty();
    }
}
