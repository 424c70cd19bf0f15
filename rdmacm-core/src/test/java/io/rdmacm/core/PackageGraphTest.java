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
    /** It lets the layers above the streams reach members that programs must not see; see that of io.rdmacm.verbs. */
    private static final String ACCESS = "io.rdmacm.core.internal.access";

    @Test
    void arrowsRunDownwards() throws IOException {
        PackageGraph graph = PackageGraph.ofModule();
        System.out.print(graph);

        assertThat(graph.upwards(List.of(
                Set.of("io.rdmacm.core.nio"),
                Set.of("io.rdmacm.core.internal.sockets", "io.rdmacm.core.internal.nio"),
                Set.of(ACCESS),
                Set.of("io.rdmacm.core.stream"),
                Set.of("io.rdmacm.core.connection"),
                Set.of("io.rdmacm.core.internal.engine"),
                Set.of("io.rdmacm.core"),
                Set.of("io.rdmacm.core.internal.jfr")))).allMatch(use -> use.matches("io\\.rdmacm\\.core\\.stream"
                        + "\\.\\w+(\\$\\w+)? -> io\\.rdmacm\\.core\\.internal\\.access\\.\\w+(\\$\\w+)?"));
        assertThat(graph.cycles()).containsExactly(List.of(ACCESS, "io.rdmacm.core.stream"));
    }
}
