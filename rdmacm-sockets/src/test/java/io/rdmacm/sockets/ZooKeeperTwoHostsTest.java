// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.rdmacm.core.twohosts.OtherHost;
import io.rdmacm.core.twohosts.RequiresTwoHosts;
import io.rdmacm.sockets.forked.ZooKeeperProgram;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Measured;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An ensemble of ZooKeeper with two members on this host and its leader on the other, and a wire that is cut. */
@RequiresTwoHosts
@Tag("alone")
class ZooKeeperTwoHostsTest {
    private static final int MEMBERS = 3;
    private static final int LEADER = MEMBERS - 1;
    private static final int PORT = 20_000;
    // With less, TCP would often win on a slow machine; and whom the wire cuts off is waited for that long.
    private static final String AGENT = "=beside:20000";

    private final List<Closeable> running = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void end() throws Exception {
        OtherHost.mend();
        for (Closeable one : running) {
            one.close();
        }
    }

    private static String host(int member) {
        return System.getenv(member == LEADER ? "RDMACM_PEER_ADDRESS" : "RDMACM_LOCAL_ADDRESS");
    }

    private static String configuration(int member, String data) {
        String servers = IntStream.range(0, MEMBERS).mapToObj(each -> "server.%d=%s:%d:%d".formatted(each, host(each),
                PORT + MEMBERS + each, PORT + 2 * MEMBERS + each)).collect(Collectors.joining("\n"));
        // A member that hears nothing for 30 s is lost; whoever starts has more time.
        return """
                tickTime=2000
                initLimit=150
                syncLimit=15
                maxSessionTimeout=600000
                forceSync=no
                preAllocSize=1000
                admin.enableServer=false
                dataDir=%s
                clientPortAddress=%s
                clientPort=%d
                %s
                """.formatted(data, host(member), PORT + member, servers);
    }

    private static List<String> options() throws Exception {
        return List.of("-Xmx128m", "-javaagent:" + AgentJar.packaged().orElseThrow() + AGENT);
    }

    private Process start(String name, String... arguments) throws Exception {
        Process process = ForkedJvm.of(ZooKeeperProgram.class).options(options().toArray(String[]::new))
                .start(folder.resolve(name + ".err"), arguments);
        running.add(() -> process.destroyForcibly().onExit().join());
        return process;
    }

    private void startMember(int member) throws Exception {
        Path data = Files.createDirectory(folder.resolve("data" + member));
        Files.writeString(data.resolve("myid"), String.valueOf(member));
        Path file = Files.writeString(folder.resolve(member + ".cfg"), configuration(member, data.toString()));
        start("member" + member, "member", file.toString());
    }

    private void startLeader() throws Exception {
        String there = OtherHost.shell("mktemp -d");
        String text = configuration(LEADER, there + "/data").replace("\n", "\\n");
        OtherHost.shell("mkdir %s/data && printf %d >%s/data/myid && printf '%s' >%s/cfg".formatted(there, LEADER,
                there, text, there));
        List<String> command = new ArrayList<>(ForkedJvm.command());
        command.addAll(options());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ZooKeeperProgram.class.getName(),
                "member", there + "/cfg"));
        running.add(OtherHost.start(there + "/out", command));
    }

    private Process client(int... members) throws Exception {
        String servers = IntStream.of(members).mapToObj(member -> host(member) + ":" + (PORT + member))
                .collect(Collectors.joining(","));
        return start("client" + running.size(), "client", servers);
    }

    private void assertWorks(Process client, int nodes) throws IOException {
        client.outputWriter().write("more\n");
        client.outputWriter().flush();
        assertThat(client.inputReader().readLine()).as("the errors are in %s", folder).isEqualTo("right " + nodes);
    }

    private static void assertOverRdma(Process client) throws IOException {
        client.outputWriter().close();
        assertThat(client.inputReader().readLine()).contains("connect").contains("RDMA: on the network of");
    }

    @Test
    void whatWasAcknowledgedWhileTheWireWasCutIsEverywhereAfterwards() throws Exception {
        Optional<Long> before = SentPackets.count();
        int nodes = ZooKeeperProgram.NODES;
        // Of two, the one with the higher number leads.
        startLeader();
        startMember(0);
        Process client = client(0, 1);
        assertWorks(client, nodes);
        startMember(1);
        Process other = client(1);
        assertWorks(other, nodes);
        assertOverRdma(other);

        OtherHost.cut();
        Measured measured = Measured.fromNow();
        assertWorks(client, 2 * nodes);
        measured.print("an ensemble of ZooKeeper whose leader is cut off: goes on with another");
        assertThat(OtherHost.lostPackets()).isPositive();
        OtherHost.mend();

        measured = Measured.fromNow();
        // It writes what is there already, and reads all of it.
        Process there = client(LEADER);
        assertWorks(there, nodes);
        assertWorks(there, 2 * nodes);
        assertWorks(there, 3 * nodes);
        measured.print("the member that was cut off, from when the wire is mended: serves again");
        assertWorks(client, 3 * nodes);
        assertOverRdma(there);
        assertOverRdma(client);
        if (before.isPresent()) {
            System.out.println(SentPackets.count().orElseThrow() - before.get() + " packets");
            assertThat(SentPackets.count().orElseThrow() - before.get())
                    .isGreaterThan(3L * nodes * ZooKeeperProgram.SIZE / SentPackets.SIZE);
        }
    }
}
