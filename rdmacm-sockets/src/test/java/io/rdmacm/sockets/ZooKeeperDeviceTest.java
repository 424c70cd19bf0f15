// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.rdmacm.sockets.forked.ZooKeeperProgram;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An ensemble of ZooKeeper: its clients, its election by plain sockets, and what the leader tells its followers. */
@RequiresRdma
class ZooKeeperDeviceTest {
    private static final InetAddress ADDRESS = RdmaTestDevice.get().ipv4();
    private static final int MEMBERS = 3;

    private final List<Process> processes = new ArrayList<>();
    private final Process[] members = new Process[MEMBERS];
    private List<Integer> ports = List.of();

    @TempDir
    private Path folder;

    @BeforeEach
    void configure() throws IOException {
        AgentJar.assumeTakesDevice();
        ports = freePorts(3 * MEMBERS);
        String servers = IntStream.range(0, MEMBERS).mapToObj(member -> "server.%d=%s:%d:%d%n".formatted(member,
                ADDRESS.getHostAddress(), ports.get(MEMBERS + member), ports.get(2 * MEMBERS + member)))
                .collect(Collectors.joining());
        for (int member = 0; member < MEMBERS; member++) {
            Path data = Files.createDirectory(folder.resolve("data" + member));
            Files.writeString(data.resolve("myid"), String.valueOf(member));
            // Limits that no slow machine reaches.
            Files.writeString(configuration(member), """
                    tickTime=2000
                    initLimit=150
                    syncLimit=150
                    maxSessionTimeout=600000
                    forceSync=no
                    admin.enableServer=false
                    4lw.commands.whitelist=srvr
                    dataDir=%s
                    clientPortAddress=%s
                    clientPort=%d
                    %s""".formatted(data, ADDRESS.getHostAddress(), ports.get(member), servers));
        }
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    /** Returns free ports that the system gives to nobody, because a member that was killed needs its own again. */
    private static List<Integer> freePorts(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        for (int port = 20_000; ports.size() < count; port++) {
            try (ServerSocket _ = new ServerSocket(port, 1, ADDRESS)) {
                ports.add(port);
            } catch (BindException e) {
                continue;
            }
        }
        return ports;
    }

    private Path configuration(int member) {
        return folder.resolve("zoo" + member + ".cfg");
    }

    private static ForkedJvm plainJvm() {
        // On a slow machine, an election would give up.
        return ForkedJvm.of(ZooKeeperProgram.class).options("-Xmx128m", "-Dzookeeper.cnxTimeout=240000");
    }

    private ForkedJvm jvm() throws IOException {
        // On a slow machine, TCP would often win.
        return plainJvm().options("-javaagent:" + AgentJar.in(folder) + "=beside:240000");
    }

    private Process start(String name, String... arguments) throws IOException {
        return start(jvm(), name, arguments);
    }

    private Process start(ForkedJvm jvm, String name, String... arguments) throws IOException {
        Process process = jvm.start(folder.resolve(name + ".err"), arguments);
        processes.add(process);
        return process;
    }

    private void startMember(int member) throws IOException {
        members[member] = start("member" + member, "member", configuration(member).toString());
    }

    /** Asks a member by plain TCP, without the agent, as tools do. */
    private boolean leads(int member) {
        try (Socket socket = new Socket(ADDRESS, ports.get(member))) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .contains("Mode: leader");
        } catch (IOException e) {
            // It is not there yet.
            return false;
        }
    }

    private int leader() {
        return IntStream.range(0, MEMBERS).filter(this::leads).findFirst().orElseThrow();
    }

    private void kill(int member) throws InterruptedException {
        members[member].destroyForcibly().waitFor();
    }

    private void assertWorks(Process client, int nodes) throws IOException {
        client.outputWriter().write("more\n");
        client.outputWriter().flush();
        assertThat(client.inputReader().readLine()).as(this::errors).isEqualTo("right " + nodes);
    }

    /** The end of what each has written to its standard error. */
    private String errors() {
        try (Stream<Path> files = Files.list(folder)) {
            StringBuilder ends = new StringBuilder();
            for (Path file : files.filter(file -> file.toString().endsWith(".err")).sorted().toList()) {
                String errors = Files.readString(file);
                ends.append(file.getFileName()).append(": ")
                        .append(errors.substring(Math.max(0, errors.length() - 2000)));
            }
            return ends.toString();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private String clientAddresses() {
        return ports.subList(0, MEMBERS).stream().map(port -> ADDRESS.getHostAddress() + ":" + port)
                .collect(Collectors.joining(","));
    }

    @Test
    void anEnsembleInOneJvmOutlivesItsLeader() throws Exception {
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = jvm().run("ensemble", clientAddresses(), configuration(0).toString(),
                configuration(1).toString(), configuration(2).toString());

        assertThat(result.output()).as(result.errors()).startsWith("right 5\nright 10\n")
                .contains("RDMA: on the network of");
        assertThat(result.status()).isZero();
        assertSent(before, 2);
    }

    /** To a member, from there to at least one other, and back. */
    private static void assertSent(Optional<Long> before, int rounds) throws IOException {
        if (before.isPresent()) {
            long bytes = 3L * rounds * ZooKeeperProgram.NODES * ZooKeeperProgram.SIZE;
            assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(bytes / SentPackets.SIZE);
        }
    }

    @Test
    void aMemberWithoutTheAgentIsReachedOverTcp() throws Exception {
        assumeTrue(System.getenv("RDMACM_TEST_PROGRAMS") != null, "four JVMs: only in scripts/test --long");
        startMember(0);
        startMember(1);
        start(plainJvm(), "member2", "member", configuration(2).toString());
        for (int member : new int[] {2, 0}) {
            Process client = start("client" + member, "client", ADDRESS.getHostAddress() + ":" + ports.get(member));
            assertWorks(client, ZooKeeperProgram.NODES);
            client.outputWriter().close();
            assertThat(client.inputReader().readLine()).contains(member == 0 ? "RDMA: on the network of" : "TCP");
        }
    }

    @Test
    void anEnsembleOutlivesAMemberAndItsLeaderThatAreKilled() throws Exception {
        assumeTrue(System.getenv("RDMACM_TEST_PROGRAMS") != null, "five JVMs: only in scripts/test --long");
        Optional<Long> before = SentPackets.count();
        for (int member = 0; member < MEMBERS; member++) {
            startMember(member);
        }
        Process client = start("client", "client", clientAddresses());
        assertWorks(client, ZooKeeperProgram.NODES);

        int killed = (leader() + 1) % MEMBERS;
        kill(killed);
        assertWorks(client, 2 * ZooKeeperProgram.NODES);

        startMember(killed);
        kill(leader());
        assertWorks(client, 3 * ZooKeeperProgram.NODES);

        client.outputWriter().close();
        // On a slow machine, a member that starts may answer later than a step of the handshake may take.
        assertThat(client.inputReader().readLine()).contains("RDMA: on the network of")
                .doesNotContainPattern("TCP: (?!RDMA failed: [^,]* was not completed in time)");
        assertSent(before, 3);
    }
}
