// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;

import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs in README.md and docs/ compile as they stand there, and do what is said of them. */
@RequiresRdma
class SnippetTest {
    @TempDir
    private Path folder;

    @Test
    void theProgramOfTheReadme() throws Exception {
        assertThat(run("README.md")).containsExactlyInAnyOrder("hello from far away", "the client has gone");
    }

    @Test
    void theProgramByHand() throws Exception {
        assertThat(run("docs/by-hand.md")).containsExactly("RDMA_WRITE: hello from far away");
    }

    private List<String> run(String document) throws Exception {
        String program = Files.readString(root().resolve(document)).split("```java\n")[1].split("```")[0];
        Path source = Files.writeString(folder.resolve("Hello.java"), program);
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        PrintStream errors = new PrintStream(messages, true, StandardCharsets.UTF_8);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(errors, errors, "-cp",
                System.getProperty("java.class.path"), "-d", folder.toString(), source.toString());
        assertThat(status).describedAs(messages.toString(StandardCharsets.UTF_8)).isZero();
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            String[] arguments = {RdmaTestDevice.get().ipv4().getHostAddress()};
            loader.loadClass("Hello").getMethod("main", String[].class).invoke(null, (Object) arguments);
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("README.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
