// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import io.rdmacm.examples.testing.Documents;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The commands of the README. {@code ./scripts/test} is what runs these tests. */
@RequiresRdma
class ReadmeDeviceTest {
    private static final Pattern COMMAND = Pattern.compile("(?m)^    (\\./scripts/.*)$");

    private final Path root = Documents.root();

    @Test
    void thereAreTwo() throws Exception {
        List<String> commands = COMMAND.matcher(Files.readString(root.resolve("README.md"))).results()
                .map(command -> command.group(1)).toList();

        assertThat(commands).containsExactly("./scripts/demo", "./scripts/test");
    }

    @Test
    void theDemoSendsItsPings() throws Exception {
        try (Program demo = Program.process(new ProcessBuilder("./scripts/demo").directory(root.toFile()))) {
            Program.Result result = demo.result();

            assertThat(result.status()).describedAs(result.err()).isZero();
            assertThat(result.outLines()).filteredOn(line -> line.startsWith("ping data: ")).hasSize(10);
            assertThat(result.errLines()).contains("demo-pings: 10 pings from client to server and back");
        }
    }
}
