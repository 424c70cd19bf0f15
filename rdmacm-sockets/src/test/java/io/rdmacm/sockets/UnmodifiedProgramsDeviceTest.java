// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of {@code src/test/programs}, with their own jars. They are large: {@code scripts/test --long}. */
@RequiresRdma
class UnmodifiedProgramsDeviceTest {
    // Where scripts/lib/programs has put them.
    private static final String VARIABLE = "RDMACM_TEST_PROGRAMS";
    private static final String ADDRESS = RdmaTestDevice.get().ipv4().getHostAddress();
    // Twenty times 300,000 bytes in full packets: each there and back, or as well to where half of them stay.
    private static final int PACKETS = 20 * 300_000 / SentPackets.SIZE;
    // On a slow machine, TCP would often win.
    private static final String AGENT = "=beside:240000";
    private static final String NO_AGENT = "";
    // What some connections that are refused over RDMA take.
    private static final int FEW = 100;
    private static final String MEASURED = "measured: ";
    // Of each of two measurements, and of the warm-up of each.
    private static final int SECONDS = 5;

    @TempDir
    private Path folder;

    @BeforeEach
    void requireDevice() {
        AgentJar.assumeTakesDevice();
    }

    static Stream<String> programs() {
        return Stream.of("JdkHttp", "Jetty", "Tomcat", "Undertow", "Netty41", "Grpc", "Hazelcast", "ZooKeeper",
                "Kafka", "Hdfs", "Spark");
    }

    /** Rules by which everything goes over TCP. */
    private String denied() throws IOException {
        return "=" + Files.writeString(folder.resolve("rules"), "deny both * *\n");
    }

    /** A server of a program, which ends with the test. */
    private final class Server implements AutoCloseable {
        private final Path program;
        private final Process process;
        private final String port;

        Server(String name, String agent, String... options) throws Exception {
            String programs = System.getenv(VARIABLE);
            assumeTrue(programs != null, "only scripts/test --long gets the programs");
            program = Path.of(programs, name);
            process = start(program, agent, List.of(options), "serve", ADDRESS);
            String line = process.inputReader().readLine();
            assertThat(line).as(() -> errors("serve")).startsWith("port ");
            port = line.substring("port ".length());
        }

        /** Starts a client that measures for some seconds. */
        Process client(String agent, int seconds) throws Exception {
            return start(program, agent, List.of(), "ask", ADDRESS, port, String.valueOf(seconds));
        }

        /** Runs a client, and returns what it prints, its measurement included. */
        private List<String> lines(String agent, int seconds) throws Exception {
            return rest(client(agent, seconds));
        }

        /** Waits for the end of a client, and returns what else it prints. */
        List<String> rest(Process client) throws Exception {
            List<String> lines = client.inputReader().lines().toList();
            assertThat(client.waitFor()).as(() -> errors("ask")).isZero();
            return lines;
        }

        /** Runs a client, and returns the ways of its connections. */
        List<String> ask(String agent) throws Exception {
            return lines(agent, 0);
        }

        /** Runs a client that measures, and returns the ways of its connections. */
        List<String> measure(String agent, String way) throws Exception {
            List<String> lines = lines(agent, SECONDS);
            lines.stream().filter(line -> line.startsWith(MEASURED)).forEach(line -> System.out.println(
                    MEASURED + program.getFileName() + ", " + way + ": " + line.substring(MEASURED.length())));
            return lines;
        }

        /** Lets it end, as the program does by itself. */
        @Override
        public void close() {
            try {
                process.outputWriter().close();
                process.inputReader().lines().forEach(_ -> { });
                process.waitFor();
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private Process start(Path program, String agent, List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(ForkedJvm.command());
        if (!agent.equals(NO_AGENT)) {
            command.add("-javaagent:" + AgentJar.packaged().orElseThrow() + agent);
        }
        command.addAll(options);
        command.addAll(List.of("-cp", program.resolve("classes") + ":" + program.resolve("lib") + "/*",
                program.getFileName().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errorsOf(arguments[0]).toFile());
        // Otherwise it looks for the address of the host's name, which not every host has.
        builder.environment().put("SPARK_LOCAL_IP", ADDRESS);
        return builder.start();
    }

    private Path errorsOf(String role) {
        return folder.resolve(role + ".err");
    }

    private String errors(String role) {
        try {
            return Files.readString(errorsOf(role));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void aServerWithTheAgentServesClientsOfBothWays(String program) throws Exception {
        try (Server server = new Server(program, AGENT)) {
            Optional<Long> before = SentPackets.count();
            assertThat(server.measure(AGENT, "RDMA")).anyMatch(line -> line.contains("connect RDMA"))
                    .noneMatch(line -> line.contains("connect TCP"));
            if (before.isPresent()) {
                assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(PACKETS);
            }
            assertThat(server.ask(denied())).anyMatch(line -> line.contains("connect TCP"))
                    .noneMatch(line -> line.contains("connect RDMA"));
            assertThat(server.ask(NO_AGENT)).noneMatch(line -> line.contains("connect"));
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void aServerWithoutTheAgentIsReachedOverTcp(String program) throws Exception {
        try (Server server = new Server(program, NO_AGENT)) {
            server.measure(NO_AGENT, "TCP without the agent");
            Optional<Long> before = SentPackets.count();
            assertThat(server.ask(AGENT)).anyMatch(line -> line.contains("connect TCP"))
                    .noneMatch(line -> line.contains("connect RDMA"));
            if (before.isPresent()) {
                assertThat(SentPackets.count().orElseThrow() - before.get()).isLessThan(FEW);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void rulesKeepAProgramOnTcp(String program) throws Exception {
        try (Server server = new Server(program, denied())) {
            Optional<Long> before = SentPackets.count();
            assertThat(server.measure(denied(), "TCP with the agent")).anyMatch(line -> line.contains("connect TCP"))
                    .noneMatch(line -> line.contains("connect RDMA"));
            assertThat(SentPackets.count()).isEqualTo(before);
        }
    }

    @Test
    void aBrokerWithoutTheAgentIsReachedOverTcpAndTheOthersOverRdma() throws Exception {
        try (Server server = new Server("Kafka", AGENT, "-Dmixed=true")) {
            assertThat(server.ask(AGENT)).anyMatch(line -> line.contains("connect RDMA"))
                    .anyMatch(line -> line.contains("connect TCP"));
        }
    }

    @Test
    void aDataNodeWithoutTheAgentIsReachedOverTcpAndTheOthersOverRdma() throws Exception {
        try (Server server = new Server("Hdfs", AGENT, "-Dmixed=true")) {
            assertThat(server.ask(AGENT)).anyMatch(line -> line.contains("connect RDMA"))
                    .anyMatch(line -> line.contains("connect TCP"));
        }
    }

    @Test
    void aWorkerWithoutTheAgentWorksOverTcpAndTheOthersOverRdma() throws Exception {
        try (Server server = new Server("Spark", AGENT, "-Dmixed=true")) {
            // The executors connect to the driver.
            assertThat(server.ask(AGENT)).anyMatch(line -> line.contains("connect RDMA"))
                    .anyMatch(line -> line.contains("accept RDMA")).anyMatch(line -> line.contains("accept TCP"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Hazelcast", "Kafka", "Hdfs", "Spark"})
    void aClientGoesOnWhenAMemberIsKilled(String program) throws Exception {
        try (Server server = new Server(program, AGENT)) {
            Process client = server.client(AGENT, SECONDS);
            assertThat(client.inputReader().readLine()).as(() -> errors("ask")).isEqualTo("asked");
            // The last process that the server has started, or itself.
            server.process.children().max(Comparator.naturalOrder()).orElse(server.process.toHandle())
                    .destroyForcibly();
            assertThat(server.rest(client)).anyMatch(line -> line.startsWith(MEASURED))
                    .anyMatch(line -> line.contains("connect RDMA"));
        }
    }
}
