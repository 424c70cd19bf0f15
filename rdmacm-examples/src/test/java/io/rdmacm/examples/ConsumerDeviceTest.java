// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.Documents;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The program of the README, and those of the guide with Netty and gRPC, in projects that depend on the installed
 * artifacts, with the options that the README gives. scripts/lib/consumer creates the projects.
 */
@RequiresRdma
class ConsumerDeviceTest {
    private final Path projects = Documents.root().resolve("target/consumer");

    @BeforeEach
    void requireProjects() {
        assumeTrue(Files.exists(projects.resolve("grpc/target/path")),
                "scripts/test creates the projects, by scripts/lib/consumer");
    }

    @Test
    void onTheClassPath() throws Exception {
        assertSaysHello(List.of("--enable-native-access=ALL-UNNAMED", "-cp", path("classpath"), "Hello"));
    }

    @Test
    void onTheModulePath() throws Exception {
        assertSaysHello(List.of("--enable-native-access=io.rdmacm.bindings,io.rdmacm.verbs", "-p", path("modulepath"),
                "-m", "consumer/consumer.Hello"));
    }

    @Nightly
    @Test
    void withNetty() throws Exception {
        assertPrints(List.of("--enable-native-access=ALL-UNNAMED", "-cp", path("netty"), "NettyEcho"), "over RDMA");
    }

    @Nightly
    @Test
    void withGrpc() throws Exception {
        assertPrints(List.of("--enable-native-access=ALL-UNNAMED", "-cp", path("grpc"), "GrpcHello"),
                "hello over RDMA");
    }

    private String path(String project) throws Exception {
        Path target = projects.resolve(project).resolve("target");
        return target.resolve("classes") + File.pathSeparator + Files.readString(target.resolve("path")).strip();
    }

    private static void assertSaysHello(List<String> arguments) throws Exception {
        assertPrints(arguments, "hello from far away");
    }

    private static void assertPrints(List<String> arguments, String... lines) throws Exception {
        List<String> command = new ArrayList<>(ForkedJvm.command());
        // The cache of the tests' classes is for another class path, and a JVM that cannot use it has not even its own.
        command.removeIf(option -> option.startsWith("-XX:SharedArchiveFile="));
        command.addAll(arguments);
        command.add(RdmaTestDevice.get().ipv4().getHostAddress());
        try (Program hello = Program.process(command.toArray(String[]::new))) {
            Program.Result result = hello.result();
            assertThat(result.status()).describedAs(result.err()).isZero();
            assertThat(result.outLines()).containsExactlyInAnyOrder(lines);
            assertThat(result.err()).doesNotContain("restricted method");
        }
    }
}
