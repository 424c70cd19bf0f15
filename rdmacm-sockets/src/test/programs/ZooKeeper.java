// SPDX-License-Identifier: Apache-2.0
// Runs with org.apache.zookeeper:zookeeper:3.9.5
// Runs with io.dropwizard.metrics:metrics-core:4.1.12.1 org.xerial.snappy:snappy-java:1.1.10.5

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** An ensemble of three members, and a client that writes and reads a node, also if its connection was lost. */
public final class ZooKeeper implements Program {
    private static final int MEMBERS = 3;
    private static final int PORT = 16_000;
    private static final String NODE = "/node";

    public static void main(String[] arguments) throws Exception {
        // Logback would write everything to standard output.
        System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
        Program.run(new ZooKeeper(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        String servers = IntStream.range(0, MEMBERS).mapToObj(member -> "server.%d=%s:%d:%d".formatted(member, address,
                PORT + MEMBERS + member, PORT + 2 * MEMBERS + member)).collect(Collectors.joining("\n"));
        Path folder = Files.createTempDirectory("zookeeper");
        for (int member = 0; member < MEMBERS; member++) {
            Path data = Files.createDirectory(folder.resolve("data" + member));
            Files.writeString(data.resolve("myid"), String.valueOf(member));
            Path file = folder.resolve(member + ".cfg");
            // With limits for a slow machine, and no more on the disk than is needed.
            Files.writeString(file, """
                    tickTime=2000
                    initLimit=150
                    syncLimit=150
                    maxSessionTimeout=600000
                    forceSync=no
                    preAllocSize=1000
                    admin.enableServer=false
                    dataDir=%s
                    clientPortAddress=%s
                    clientPort=%d
                    %s
                    """.formatted(data, address, PORT + member, servers));
            QuorumPeerConfig configuration = new QuorumPeerConfig();
            configuration.parse(file.toString());
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    new QuorumPeerMain().runFromConfig(configuration);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        return PORT;
    }

    @Override
    public Client client(String address, int port) throws Exception {
        String members = IntStream.range(port, port + MEMBERS).mapToObj(each -> address + ":" + each)
                .collect(Collectors.joining(","));
        var client = new org.apache.zookeeper.ZooKeeper(members, (int) TimeUnit.MINUTES.toMillis(5), event -> { });
        again(() -> client.exists(NODE, false) == null
                ? client.create(NODE, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT) : NODE);
        return (data, times) -> {
            for (int i = 0; i < times; i++) {
                again(() -> client.setData(NODE, data, -1));
                Program.check(data, again(() -> client.getData(NODE, false, null)));
            }
        };
    }

    /** What may lose its connection. */
    private interface Operation<T> {
        T run() throws Exception;
    }

    private static <T> T again(Operation<T> operation) throws Exception {
        for (;;) {
            try {
                return operation.run();
            } catch (KeeperException.ConnectionLossException e) {
                System.err.println("again: " + e);
            }
        }
    }
}
