// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.tools.ToolProvider;

import io.rdmacm.verbs.testing.PackageGraph;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packages of this module stand in layers; docs/architecture.md draws them. */
class PackageGraphTest {
    private static final String ROOT = "io.rdmacm.verbs";
    /**
     * The one package that may know what stands above it: it lets io.rdmacm.core, and the packages above the objects,
     * reach members that programs must not see. The JDK does the same with its SharedSecrets.
     */
    private static final String ACCESS = ROOT + ".internal.access";
    private static final List<Set<String>> LAYERS = List.of(
            Set.of(ROOT + ".flow", ROOT + ".pool", ROOT + ".memory", ROOT + ".counter", ROOT + ".efa",
                    ROOT + ".mlx5"),
            Set.of(ROOT),
            Set.of(ROOT + ".internal.query"),
            Set.of(ROOT + ".internal.codec"),
            Set.of(ROOT + ".device"),
            Set.of(ROOT + ".queue"),
            Set.of(ROOT + ".work", ROOT + ".address"),
            Set.of(ROOT + ".internal.driver"),
            Set.of(ROOT + ".internal.life"),
            Set.of(ROOT + ".internal.wait"),
            Set.of(ROOT + ".internal.ffi", ROOT + ".internal.jfr"),
            Set.of(ROOT + ".error", ROOT + ".metrics"));
    private static final int MOST_CLASSES = 56;

    @Test
    void arrowsRunDownwards() throws IOException {
        PackageGraph graph = PackageGraph.ofModule();
        System.out.print(graph);

        List<Set<String>> layers = new ArrayList<>(LAYERS);
        layers.add(1, Set.of(ACCESS));
        assertThat(graph.upwards(layers)).allMatch(use -> use.matches("io\\.rdmacm\\.verbs\\.\\w+(\\$\\w+)? -> "
                + "io\\.rdmacm\\.verbs\\.internal\\.access\\.\\w+(\\$\\w+)?"));
        assertThat(graph.cycles()).containsExactly(List.of(ROOT, ACCESS));
    }

    @Test
    void aFolderCanBeTakenInAtAGlance() throws IOException {
        assertThat(PackageGraph.ofModule().classes()).allSatisfy(
                (name, count) -> assertThat(count).as(name).isLessThanOrEqualTo(MOST_CLASSES));
    }

    @Test
    void aClassInTheWrongPackageIsFound(@TempDir Path folder) throws IOException {
        compile(folder, new TreeMap<>(Map.of(
                "Above", "package io.rdmacm.above; public class Above { io.rdmacm.below.Below below; }",
                "Below", "package io.rdmacm.below; public class Below { io.rdmacm.aside.Misplaced misplaced; }",
                "Misplaced", "package io.rdmacm.aside; public class Misplaced { io.rdmacm.above.Above above; }")));

        PackageGraph graph = PackageGraph.of(folder);

        assertThat(graph.cycles())
                .containsExactly(List.of("io.rdmacm.above", "io.rdmacm.aside", "io.rdmacm.below"));
        assertThat(graph.upwards(List.of(Set.of("io.rdmacm.above"), Set.of("io.rdmacm.below"))))
                .containsExactly("io.rdmacm.aside has no place in the layers",
                        "io.rdmacm.below.Below -> io.rdmacm.aside.Misplaced");
        assertThat(graph.upwards(List.of(Set.of("io.rdmacm.above"), Set.of("io.rdmacm.below"),
                Set.of("io.rdmacm.aside")))).containsExactly("io.rdmacm.aside.Misplaced -> io.rdmacm.above.Above");
    }

    private static void compile(Path folder, Map<String, String> sources) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-d", folder.toString()));
        for (Map.Entry<String, String> source : sources.entrySet()) {
            Path file = folder.resolve(source.getKey() + ".java");
            Files.writeString(file, source.getValue());
            arguments.add(file.toString());
        }
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(status).isZero();
    }
}
