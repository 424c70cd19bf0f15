// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * ZooKeeper, which knows nothing of RDMA: a {@code member} with a file of its configuration, or a {@code client} with a
 * list of members. For each line that the client reads, it writes some nodes, and then reads all of them.
 */
public final class ZooKeeperProgram {
    /** Bytes of a node. */
    public static final int SIZE = 100_000;
    /** Nodes for each line. */
    public static final int NODES = 5;
    // Longer than any slow machine needs to come back to an ensemble.
    private static final int MINUTES = 10;

    private ZooKeeperProgram() {
    }

    /** Runs one of the two; the client prints how many nodes were right, and at the end what the agent tells. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("member")) {
            QuorumPeerMain.main(new String[] {arguments[1]});
            return;
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ZooKeeper client = new ZooKeeper(arguments[1], (int) TimeUnit.MINUTES.toMillis(MINUTES), event -> { });
        int nodes = 0;
        while (input.readLine() != null) {
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
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdmacm.sockets:type=Connections");
        System.out.println(Arrays.toString((String[]) beans.getAttribute(name, "Recent")));
        System.exit(0);
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
