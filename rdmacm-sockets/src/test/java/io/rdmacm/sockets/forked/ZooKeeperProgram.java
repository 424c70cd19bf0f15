// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.admin.AdminServer;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * ZooKeeper, which knows nothing of RDMA: a {@code member} with a file of its configuration; a {@code client} with a
 * list of members, which writes and reads for each line of its input; or an {@code ensemble} with a list of members and
 * a file for each of them, which has a client of its own and loses its leader.
 */
public final class ZooKeeperProgram {
    /** Bytes of a node. */
    public static final int SIZE = 100_000;
    /** Nodes for each line. */
    public static final int NODES = 5;
    // Longer than any slow machine needs to come back to an ensemble.
    private static final int MINUTES = 10;

    private final ZooKeeper client;
    private int nodes;

    private ZooKeeperProgram(String members) throws IOException {
        client = new ZooKeeper(members, (int) TimeUnit.MINUTES.toMillis(MINUTES), event -> { });
    }

    /** A member of an ensemble in one JVM. */
    private static final class Member extends QuorumPeerMain {
        Member(String file) throws QuorumPeerConfig.ConfigException {
            QuorumPeerConfig configuration = new QuorumPeerConfig();
            configuration.parse(file);
            Thread.ofPlatform().start(() -> {
                try {
                    runFromConfig(configuration);
                } catch (IOException | AdminServer.AdminServerException e) {
                    throw new IllegalStateException(file, e);
                }
            });
        }

        boolean leads() {
            return quorumPeer != null && quorumPeer.getPeerState() == QuorumPeer.ServerState.LEADING;
        }
    }

    /** Runs one of them; clients print how many nodes were right, and at the end what the agent tells. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "member" -> {
                QuorumPeerMain.main(new String[] {arguments[1]});
                return;
            }
            case "client" -> askAgain(new ZooKeeperProgram(arguments[1]));
            default -> askEnsemble(new ZooKeeperProgram(arguments[1]),
                    Arrays.copyOfRange(arguments, 2, arguments.length));
        }
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdmacm.sockets:type=Connections");
        // It comes some time after the first connection.
        while (!beans.isRegistered(name)) {
            Thread.sleep(10);
        }
        System.out.println(Arrays.toString((String[]) beans.getAttribute(name, "Recent")));
        System.exit(0);
    }

    private static void askAgain(ZooKeeperProgram program) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (input.readLine() != null) {
            program.ask();
        }
    }

    private static void askEnsemble(ZooKeeperProgram program, String... files) throws Exception {
        List<Member> members = new ArrayList<>();
        for (String file : files) {
            members.add(new Member(file));
        }
        program.ask();
        members.stream().filter(Member::leads).findFirst().orElseThrow().close();
        program.ask();
    }

    /** Writes some nodes, and reads all of them. */
    private void ask() throws KeeperException, InterruptedException {
        for (int i = 0; i < NODES; i++) {
            write(client, nodes++);
        }
        for (int i = 0; i < nodes; i++) {
            if (!Arrays.equals(data(i), read(client, i))) {
                throw new IllegalStateException("node " + i + " is wrong");
            }
        }
        System.out.println("right " + nodes);
    }

    private static byte[] data(int node) {
        byte[] data = new byte[SIZE];
        for (int i = 0; i < SIZE; i++) {
            data[i] = (byte) (node + i * 7 + (i >> 9));
        }
        return data;
    }

    private static void write(ZooKeeper client, int node) throws KeeperException, InterruptedException {
        again(() -> {
            try {
                return client.create("/" + node, data(node), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException e) {
                // It was written, but the answer was lost.
                return "";
            }
        });
    }

    private static byte[] read(ZooKeeper client, int node) throws KeeperException, InterruptedException {
        return again(() -> client.getData("/" + node, false, null));
    }

    /** What may lose its connection. */
    private interface Operation<T> {
        T run() throws KeeperException, InterruptedException;
    }

    private static <T> T again(Operation<T> operation) throws KeeperException, InterruptedException {
        long start = System.nanoTime();
        for (;;) {
            try {
                return operation.run();
            } catch (KeeperException.ConnectionLossException e) {
                if (System.nanoTime() - start > TimeUnit.MINUTES.toNanos(MINUTES)) {
                    throw e;
                }
            }
        }
    }
}
