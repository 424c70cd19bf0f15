// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** rstream, riostream and rcopy in both roles, with the C programs and with themselves. All check their data. */
@RequiresRdma
class StreamProgramsDeviceTest {
    private static final boolean JAVA = true;
    private static final boolean C = false;

    @BeforeAll
    static void programs() {
        for (String program : List.of("rstream", "riostream", "rcopy")) {
            Requirements.requireProgram(program, "rdmacm-utils");
        }
    }

    @ParameterizedTest
    @CsvSource({"-S 64 -I 200 -C 1 -T b, false", "-S 64 -I 200 -C 1 -T a, false", "-S 1000 -I 5 -C 20 -T n, false",
        "-S 1 -I 2 -C 1000 -T b, false",
        "-S 4096 -C 50 -I 3 -T b -T a -k 5, false", "-S 1000000 -C 3 -I 2 -T b -B 100000, true",
        "-S 5000 -C 10 -T b -T r, false", "-S 100000 -C 5 -T b -f ip, false"})
    void rstreamWithC(String options, boolean ipv6) throws Exception {
        assertSameOutput(run("rstream", options, C, JAVA, ipv6));
        assertSameOutput(run("rstream", options, JAVA, C, ipv6));
    }

    @Test
    void rstreamWithItself() throws Exception {
        assertSameOutput(run("rstream", "-S 3000 -C 10 -I 3 -T async -T block", JAVA, JAVA, false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 64 -I 50 -C 1 -T s -T b", "-S 100000 -C 20 -T f -T b", "-S 1000 -C 20 -T s -T a -T b"})
    void rstreamOverTcp(String options) throws Exception {
        assertSameOutput(run("rstream", options, C, JAVA, false));
        assertSameOutput(run("rstream", options, JAVA, C, false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-S 64 -I 50 -C 1 -T s", "-S 100000 -C 20 -T s -T f", "-S 64 -I 50 -C 1 -T s -T a"})
    void rstreamOverTcpWithoutSleeping(String options) throws Exception {
        Assumptions.assumeTrue(Runtime.getRuntime().availableProcessors() > 1,
                "two programs that never sleep take turns of milliseconds on one CPU");
        assertSameOutput(run("rstream", options, C, JAVA, false));
        assertSameOutput(run("rstream", options, JAVA, C, false));
    }

    @ParameterizedTest
    @CsvSource({"-S 64 -I 5 -C 3 -T b, false", "-S 1 -I 3 -C 1 -T n, false", "-S 100000 -C 4 -I 2 -T b -T a, true"})
    void riostreamWithC(String options, boolean ipv6) throws Exception {
        assertSameOutput(run("riostream", options, C, JAVA, ipv6));
        assertSameOutput(run("riostream", options, JAVA, C, ipv6));
    }

    @Test
    void riostreamWithItself() throws Exception {
        assertSameOutput(run("riostream", "-S 3000 -C 3 -I 3 -T b", JAVA, JAVA, false));
    }

    /** Runs a server and a client with the same options, and returns the output of both. */
    private static List<Program.Result> run(String name, String options, boolean serverInJava, boolean clientInJava,
            boolean ipv6) throws Exception {
        InetAddress address = Addresses.of(ipv6);
        boolean tcp = options.contains("-T s") || options.contains("-T f");
        int port = tcp ? Ports.freeTcp() : Ports.free(address, PortSpace.TCP);
        List<String> all = new ArrayList<>(List.of(name, "-T", "v", "-p", "" + port));
        all.addAll(List.of(options.split(" ")));
        try (Program server = start(serverInJava, all, "-b", address.getHostAddress())) {
            if (tcp) {
                Ports.awaitTcp(server, port);
            } else {
                Ports.awaitListening(server, port);
            }
            try (Program client = start(clientInJava, all, "-s", address.getHostAddress())) {
                return List.of(server.result(), client.result());
            }
        }
    }

    private static Program start(boolean java, List<String> options, String... more) throws IOException {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of(more));
        return java ? Program.inThread(all.toArray(String[]::new)) : Program.process(all.toArray(String[]::new));
    }

    /** Checks that both have succeeded, and that what does not depend on time is the same. */
    private static void assertSameOutput(List<Program.Result> results) {
        Program.Result server = results.getFirst();
        Program.Result client = results.getLast();
        assertThat(server.status()).as(results.toString()).isZero();
        assertThat(client.status()).as(results.toString()).isZero();
        assertThat(server.outLines().getFirst()).isEqualTo(client.outLines().getFirst()).startsWith("name      bytes");
        assertThat(lastRow(server)).matches("custom .{35} *[0-9.]+s +[0-9.]+ +[0-9.]+");
        assertThat(lastRow(server).substring(0, 42)).isEqualTo(lastRow(client).substring(0, 42));
    }

    /** A C server that has forked prints the lines above once more in the end. */
    private static String lastRow(Program.Result result) {
        return result.outLines().stream().filter(line -> line.startsWith("custom")).toList().getLast();
    }

    @ParameterizedTest
    @CsvSource({"false, true", "true, false", "true, true"})
    void rcopyCopiesAFile(boolean serverInJava, boolean clientInJava, @TempDir Path folder) throws Exception {
        byte[] data = new byte[5_000_001];
        new Random(4).nextBytes(data);
        Path source = Files.write(folder.resolve("source"), data);
        Files.setPosixFilePermissions(source, PosixFilePermissions.fromString("rw-r-----"));
        int port = Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program server = start(serverInJava, List.of("rcopy", "-p", "" + port))) {
            Ports.awaitListening(server, port);
            for (String name : List.of("first", "second")) {
                Path target = folder.resolve(name);
                try (Program client = start(clientInJava, List.of("rcopy", source.toString(),
                        Addresses.ipv4() + ":" + target, "-p", "" + port))) {
                    Program.Result result = client.result();
                    assertThat(result.status()).as(result + server.output()).isZero();
                    assertThat(result.out()).matches("opening\\.\\.\\.transferring\\.\\.\\.closing\\.\\.\\.done\n"
                            + "5000001 bytes in [0-9.]+ seconds = [0-9.]+ Gb/sec\n");
                }
                assertThat(Files.mismatch(source, target)).isEqualTo(-1);
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                        .isEqualTo("rw-r-----");
            }
            server.awaitOutput("waiting for connection\\.\\.\\.client: " + Addresses.ipv4() + "\nopening: "
                    + folder.resolve("second") + ", transferring\\.\\.\\.5000001 bytes\\.\\.\\.closing\\.\\.\\.done\n");
        }
    }

    /** The server says why, and serves the next client. */
    @ParameterizedTest
    @ValueSource(booleans = {C, JAVA})
    void rcopyReportsAFileThatCannotBeOpened(boolean clientInJava, @TempDir Path folder) throws Exception {
        Path source = Files.write(folder.resolve("source"), new byte[100]);
        int port = Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program server = start(JAVA, List.of("rcopy", "-p", "" + port))) {
            Ports.awaitListening(server, port);
            for (int i = 0; i < 2; i++) {
                try (Program client = start(clientInJava, List.of("rcopy", source.toString(),
                        Addresses.ipv4() + ":" + folder.resolve("none/target"), "-p", "" + port))) {
                    Program.Result result = client.result();
                    assertThat(result.status()).isNotZero();
                    if (clientInJava) {
                        assertThat(result.err()).contains("could not open " + folder.resolve("none/target")
                                + ": error 2");
                    }
                }
            }
        }
    }

    @Test
    void rcopyCopiesAnEmptyFile(@TempDir Path folder) throws Exception {
        Path source = Files.createFile(folder.resolve("source"));
        int port = Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program server = start(JAVA, List.of("rcopy", "-p", "" + port))) {
            Ports.awaitListening(server, port);
            try (Program client = start(JAVA, List.of("rcopy", source.toString(),
                    Addresses.ipv4() + ":" + folder.resolve("target"), "-p", "" + port))) {
                assertThat(client.result().status()).isZero();
            }
        }
        assertThat(folder.resolve("target")).isEmptyFile();
    }
}
