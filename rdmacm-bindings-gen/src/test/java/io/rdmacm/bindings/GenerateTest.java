// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.rdmacm.bindings.testing.Processes;
import io.rdmacm.bindings.testing.RdmaCore;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The generator, with scripts in the place of jextract, and with jextract itself where it is installed. */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the sources are generated on Linux amd64")
class GenerateTest {
    private static final Path JEXTRACT_FOLDER = Path.of("src/main/jextract");
    private static final String GOOD_VERSION = "jextract 25\nJDK version 25\nLibClang version clang version 14.0.6";
    private static final String OLD_SOURCES = "the sources of before";

    @TempDir
    private static Path classes;

    /** What stands for the module: the header, the list, and sources that were generated before. */
    @TempDir
    private Path module;
    @TempDir
    private Path jextractHome;

    @BeforeAll
    static void compileWithoutAWarning() throws IOException, InterruptedException {
        Processes.Result result = Processes.run(JEXTRACT_FOLDER, List.of(Processes.jdk("javac"),
                "-Xlint:all", "-Werror", "-d", classes.toString(), "Generate.java"));
        assertThat(result.status()).describedAs(result.output()).isZero();
    }

    @BeforeEach
    void copyModule() throws IOException {
        Path folder = Files.createDirectories(module.resolve(JEXTRACT_FOLDER));
        for (String file : List.of("rdmacm.h", "includes.txt", "mlx5.h", "mlx5-includes.txt", "efa.h",
                "efa-includes.txt")) {
            Files.copy(JEXTRACT_FOLDER.resolve(file), folder.resolve(file));
        }
        Files.createDirectories(module.resolve("src/generated/java"));
        Files.writeString(module.resolve("src/generated/java/Old.java"), OLD_SOURCES);
    }

    @Test
    void saysWhatToInstallWhenThereIsNoJextract() throws IOException, InterruptedException {
        assertRefused(run(path(jextractHome.toString())),
                "not found: install jextract 25 of OpenJDK, and set JEXTRACT_HOME or put it on the PATH");
    }

    @Test
    void saysWhenJextractHomeIsWrong() throws IOException, InterruptedException {
        assertRefused(run(home(jextractHome)), "JEXTRACT_HOME is " + jextractHome
                + ", but there is no executable bin/jextract in it");
    }

    @Test
    void findsJextractOnThePath() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION.replace("jextract 25", "jextract 22"), "");

        assertRefused(run(path(jextractHome.resolve("bin") + ":" + System.getenv("PATH"))),
                "this is version 22, but 25 is needed");
    }

    @Test
    void refusesALibclangThatLosesAnonymousUnions() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION.replace("14.0.6", "16.0.0"), "");

        assertRefused(run(home(jextractHome)), "it runs on libclang 16, with which it silently leaves out anonymous "
                + "unions: use one with libclang 15 or older");
    }

    @Test
    void refusesAnUnknownVersion() throws IOException, InterruptedException {
        fakeJextract("something else", "");

        assertRefused(run(home(jextractHome)), "cannot find a version of jextract in: something else");
    }

    @Test
    void keepsTheOldSourcesWhenJextractFails() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION, "echo 'rdmacm.h: error: no such thing'; exit 3");
        assumeHeaders();

        assertRefused(run(home(jextractHome)), "exit status 3, saying: rdmacm.h: error: no such thing");
    }

    @Test
    void keepsTheOldSourcesWhenJextractWarns() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION, "echo 'warning: Skipping ibv_wc'");
        assumeHeaders();

        assertRefused(run(home(jextractHome)), "exit status 0, saying: warning: Skipping ibv_wc");
    }

    @Test
    void keepsTheOldSourcesWhenThereAreNoNewOnes() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION, "");
        assumeHeaders();

        assertRefused(run(home(jextractHome)), "exit status 0, but no sources");
    }

    @Test
    void keepsTheOldSourcesWhenTheNewOnesAreOfAnotherShape() throws IOException, InterruptedException {
        fakeJextract(GOOD_VERSION, "mkdir -p \"$2/io/rdmacm/bindings\"; cd \"$2/io/rdmacm/bindings\";"
                + " printf '// Generated by jextract\\npublic class Rdma {\\n}\\n' > Rdma.java");
        assumeHeaders();

        assertThat(assertRefused(run(home(jextractHome)), "unexpected output, 0 instead of 1 matches of "))
                .contains("LIBRARY_ARENA");
    }

    @Test
    void keepsTheOldSourcesWhenAMemberIsLost() throws IOException, InterruptedException {
        String jextract = assumeJextract();
        fakeJextract(GOOD_VERSION, jextract + " \"$@\";"
                + " sed -i 's/imm_data/padding/g' \"$2\"/io/rdmacm/bindings/*.java");

        assertThat(assertRefused(run(home(jextractHome)), "the output lacks the member imm_data of ibv_"))
                .isNotEmpty();
    }

    @Test
    void writesTheCommittedSourcesByteForByte() throws IOException, InterruptedException {
        assumeJextract();

        Processes.Result result = run(Map.of());

        assertThat(result.status()).describedAs(result.output()).isZero();
        Path committed = Path.of("src/generated");
        assumeTrue(tools(module.resolve("src/generated")).equals(tools(committed)), "the committed sources were made"
                + " with other tools: " + tools(committed));
        assertThat(contents(module.resolve("src/generated"))).isEqualTo(contents(committed));
        assertThat(module.resolve("src")).isDirectoryNotContaining("glob:**/.generated*");
    }

    /** It exits 1 with one line, and the old sources are still there, with nothing beside them. */
    private String assertRefused(Processes.Result result, String message) throws IOException {
        assertThat(result.output()).startsWith("jextract: " + message).hasLineCount(1);
        assertThat(result.status()).isEqualTo(1);
        assertThat(module.resolve("src/generated/java/Old.java")).hasContent(OLD_SOURCES);
        assertThat(module.resolve("src")).isDirectoryNotContaining("glob:**/.generated*");
        return result.output();
    }

    private Processes.Result run(Map<String, String> environment) throws IOException, InterruptedException {
        return Processes.run(module, environment,
                List.of(Processes.jdk("java"), "-cp", classes.toString(), "Generate", module.toString()));
    }

    private static Map<String, String> path(String path) {
        return Map.of("PATH", path, "JEXTRACT_HOME", "");
    }

    private static Map<String, String> home(Path home) {
        return Map.of("JEXTRACT_HOME", home.toString());
    }

    private void fakeJextract(String version, String extract) throws IOException {
        Path script = Files.createDirectories(jextractHome.resolve("bin")).resolve("jextract");
        Files.writeString(script, "#!/bin/sh\nif [ \"$1\" = --version ]; then printf '%s\\n' '" + version
                + "'; exit 0; fi\n" + extract + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void assumeHeaders() {
        assumeTrue(Files.exists(Path.of("/usr/include/rdma/rdma_verbs.h")), "librdmacm-dev is not installed");
    }

    private static String assumeJextract() throws IOException {
        assumeHeaders();
        assumeTrue(RdmaCore.installedVersion() == RdmaCore.GENERATED_FROM, "the installed headers are of rdma-core "
                + RdmaCore.installedVersion() + ", the sources of " + RdmaCore.GENERATED_FROM);
        String home = System.getenv("JEXTRACT_HOME");
        assumeTrue(home != null, "JEXTRACT_HOME is not set");
        return home + "/bin/jextract";
    }

    private static List<String> tools(Path generated) throws IOException {
        return Files.readAllLines(generated.resolve("GENERATED.properties")).stream()
                .filter(line -> line.matches("(jextract|libclang|rdma-core)=.*")).toList();
    }

    private static Map<String, String> contents(Path directory) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                contents.put(directory.relativize(file).toString(), Files.readString(file));
            }
        }
        return contents;
    }
}
