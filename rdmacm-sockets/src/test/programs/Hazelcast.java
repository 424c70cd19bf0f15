// SPDX-License-Identifier: Apache-2.0
// Runs with com.hazelcast:hazelcast:5.7.0

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;

/** Two members of a Hazelcast cluster: the one that asks joins the other. */
public final class Hazelcast implements Program {
    private static final int PARTITIONS = 31;

    public static void main(String[] arguments) throws Exception {
        Program.run(new Hazelcast(), arguments);
    }

    private static HazelcastInstance member(String address, String joins) {
        Config config = new Config();
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.wait.seconds.before.join", "0");
        // Few, because each has its threads and its backup.
        config.setProperty("hazelcast.partition.count", String.valueOf(PARTITIONS));
        config.getNetworkConfig().setPublicAddress(null).getInterfaces().setEnabled(true).addInterface(address);
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true).addMember(joins);
        return com.hazelcast.core.Hazelcast.newHazelcastInstance(config);
    }

    @Override
    public int serve(String address) {
        return member(address, address).getCluster().getLocalMember().getAddress().getPort();
    }

    @Override
    public Client client(String address, int port) {
        HazelcastInstance member = member(System.getProperty("here", address), address + ":" + port);
        int members = member.getCluster().getMembers().size();
        if (members != 2) {
            throw new IllegalStateException(members + " members");
        }
        IMap<Integer, byte[]> map = member.getMap("map");
        return new Client() {
            private int next;

            @Override
            public void exchange(byte[] data, int times) {
                for (int i = 0; i < times; i++) {
                    // One of them has it, the other one its backup.
                    int key = next++ % PARTITIONS;
                    map.set(key, data);
                    Program.check(data, map.get(key));
                }
            }

            @Override
            public void close() {
                member.shutdown();
            }
        };
    }
}
