// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.rdmacm.core.twohosts.OtherHost;
import io.rdmacm.core.twohosts.RequiresTwoHosts;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Measured;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of {@code src/test/programs} on two hosts, with a wire that is cut. */
@RequiresTwoHosts
@Tag("alone")
class ProgramsTwoHostsTest {
    private static final String HERE = System.getenv("RDMACM_LOCAL_ADDRESS");
    private static final String THERE = System.getenv("RDMACM_PEER_ADDRESS");
    // With less, TCP would often win on a slow machine; and whom the wire cuts off is waited for that long.
    private static final String AGENT = "=beside:20000";
    // Twenty times 300,000 bytes.
    private static final int PACKETS = 20 * 300_000 / SentPackets.SIZE;
    // More than what connections take that are refused; the driver of Spark has only little to say.
    private static final int FEW = 300;

    private final List<Closeable> running = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void end() throws Exception {
        OtherHost.mend();
        for (Closeable one : running.reversed()) {
            one.close();
        }
    }

    private static List<String> command(String program, List<String> options, String... arguments) throws Exception {
        String programs = System.getenv("RDMACM_TEST_PROGRAMS");
        assumeTrue(programs != null, "only scripts/test --long gets the programs");
        Path of = Path.of(programs, program);
        List<String> command = new ArrayList<>(ForkedJvm.command());
        command.add("-javaagent:" + AgentJar.packaged().orElseThrow() + AGENT);
        command.addAll(options);
        command.addAll(List.of("-cp", of.resolve("classes") + ":" + of.resolve("lib") + "/*", program));
        command.addAll(List.of(arguments));
        return command;
    }

    private Process start(String name, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(folder.resolve(name).toFile());
        builder.environment().put("SPARK_LOCAL_IP", HERE);
        Process process = builder.start();
        running.add(() -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().onExit().join();
        });
        return process;
    }

    private String end(String name) {
        try {
            String text = Files.readString(folder.resolve(name));
            return text.substring(Math.max(0, text.length() - 4000));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Starts a server there, and returns its port. */
    private String serveThere(String program, String... options) throws Exception {
        String file = OtherHost.shell("mktemp");
        List<String> command = new ArrayList<>(List.of("env", "SPARK_LOCAL_IP=" + THERE));
        command.addAll(command(program, List.of(options), "serve", THERE));
        running.add(OtherHost.start(file, command));
        // Its line is the first one that begins so.
        return OtherHost.shell("tail -n +1 -F " + file + " | sed -n '/^port /{s///p;q}'").strip();
    }

    private Process client(String program, String address, String port, String... options) throws Exception {
        return start("each", command(program, List.of(options), "each", address, port));
    }

    private static void ask(Process client) throws IOException {
        client.outputWriter().write("more\n");
        client.outputWriter().flush();
    }

    private void assertAnswered(Process client) throws IOException {
        assertThat(client.inputReader().readLine()).as(() -> end("each")).isEqualTo("asked");
    }

    private List<String> complete(Process client) throws Exception {
        client.outputWriter().close();
        List<String> lines = client.inputReader().lines().toList();
        assertThat(client.waitFor()).as(() -> end("each")).isZero();
        assertThat(lines.getFirst()).isEqualTo("complete");
        return lines;
    }

    private static void assertSent(Optional<Long> before, int least) throws IOException {
        if (before.isPresent()) {
            long sent = SentPackets.count().orElseThrow() - before.get();
            System.out.println(sent + " packets were sent");
            assertThat(sent).isGreaterThan(least);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JdkHttp", "Jetty", "Tomcat", "Undertow", "Netty41", "Grpc", "Hazelcast", "Hdfs", "Spark"})
    void aClientIsAnsweredWhenTheWireIsMended(String program) throws Exception {
        Optional<Long> before = SentPackets.count();
        Process client = client(program, THERE, serveThere(program), "-Dhere=" + HERE);
        ask(client);
        assertAnswered(client);

        OtherHost.cut();
        Measured measured = Measured.fromNow();
        ask(client);
        while (OtherHost.lostPackets() == 0) {
            assertThat(client.isAlive()).as(() -> end("each")).isTrue();
        }
        assertThat(client.inputReader().ready()).isFalse();
        OtherHost.mend();
        assertAnswered(client);
        measured.print(program + " over a wire that is cut, and mended when something was lost: answered");
        assertThat(complete(client)).anyMatch(line -> line.contains("connect RDMA"));
        assertSent(before, FEW);
    }

    @Test
    void aClusterOfKafkaGoesOnWhileOneBrokerIsCutOffAndLosesNothing() throws Exception {
        Optional<Long> before = SentPackets.count();
        String hosts = "-Dhosts=" + String.join(",", HERE, HERE, THERE);
        Process brokers = start("brokers", command("Kafka", List.of(hosts), "serve", HERE));
        String port = serveThere("Kafka", hosts);
        assertThat(brokers.inputReader().readLine()).as(() -> end("brokers")).isEqualTo("port " + port);
        Process client = client("Kafka", HERE, port, hosts);
        ask(client);
        assertAnswered(client);

        OtherHost.cut();
        Measured measured = Measured.fromNow();
        ask(client);
        assertAnswered(client);
        measured.print("a cluster of Kafka with one broker cut off: goes on without");
        assertThat(OtherHost.lostPackets()).isPositive();
        OtherHost.mend();

        measured = Measured.fromNow();
        ask(client);
        assertAnswered(client);
        assertThat(complete(client)).anyMatch(line -> line.contains("connect RDMA"));
        measured.print("the broker that was cut off, from when the wire is mended: has what the others have");
        assertSent(before, 3 * PACKETS);
    }
}
