// SPDX-License-Identifier: Apache-2.0
// Runs with org.apache.hadoop:hadoop-client-minicluster:3.5.0

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * A name node and two data nodes of HDFS, the last of them in a JVM of its own, and a client that writes and reads
 * a file of several blocks. With {@code -Dmixed=true}, the last data node is without the agent.
 */
public final class Hdfs implements Program {
    private static final int DATA_NODES = 2;
    private static final int PORT = 18_020;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("data")) {
            dataNode(arguments[1], java.nio.file.Path.of(arguments[2]));
        } else {
            Program.run(new Hdfs(), arguments);
        }
    }

    private static Configuration configuration(String address) {
        Configuration configuration = new Configuration();
        configuration.set("fs.defaultFS", "hdfs://" + address + ":" + PORT);
        // Its default has the name of the host, which not every host can resolve.
        configuration.set("hadoop.http.authentication.kerberos.principal", "HTTP/" + address);
        return configuration;
    }

    private static void dataNode(String address, java.nio.file.Path folder) throws IOException {
        Configuration configuration = configuration(address);
        for (String server : new String[] {"address", "ipc.address", "http.address"}) {
            configuration.set("dfs.datanode." + server, address + ":0");
        }
        configuration.set("dfs.datanode.hostname", address);
        configuration.set("dfs.datanode.data.dir", folder.toUri().toString());
        DataNode.createDataNode(new String[0], configuration);
    }

    @Override
    public int serve(String address) throws Exception {
        java.nio.file.Path folder = Files.createTempDirectory("hdfs");
        Configuration configuration = configuration(address);
        configuration.set("dfs.namenode.http-address", address + ":0");
        configuration.set("dfs.namenode.name.dir", folder.resolve("name").toUri().toString());
        configuration.setBoolean("dfs.namenode.datanode.registration.ip-hostname-check", false);
        configuration.setInt("dfs.namenode.fs-limits.min-block-size", 0);
        // A name node is formatted and started in the same JVM.
        DefaultMetricsSystem.setMiniClusterMode(true);
        NameNode.format(configuration);
        NameNode name = NameNode.createNameNode(new String[0], configuration);
        for (int i = 0; i < DATA_NODES; i++) {
            java.nio.file.Path data = folder.resolve("data" + i);
            if (i == DATA_NODES - 1) {
                inItsJvm(address, data, folder.resolve("data" + i + ".out"));
            } else {
                dataNode(address, data);
            }
        }
        Program.eventually(() -> {
            if (name.getNamesystem().getNumLiveDataNodes() < DATA_NODES) {
                throw new IllegalStateException("not all data nodes are there");
            }
            return true;
        });
        return PORT;
    }

    private static void inItsJvm(String address, java.nio.file.Path data, java.nio.file.Path output)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        if (Boolean.getBoolean("mixed")) {
            command.removeIf(option -> option.startsWith("-javaagent:"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Hdfs.class.getName(), "data", address,
                data.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    @Override
    public Client client(String address, int port) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setInt("dfs.replication", DATA_NODES);
        configuration.setInt("dfs.blocksize", 1 << 20);
        FileSystem files = FileSystem.get(URI.create("hdfs://" + address + ":" + port), configuration);
        Path path = new Path("/file-" + ProcessHandle.current().pid());
        return (data, times) -> {
            try (OutputStream out = files.create(path)) {
                for (int i = 0; i < times; i++) {
                    out.write(data);
                }
            }
            try (InputStream in = files.open(path)) {
                for (int i = 0; i < times; i++) {
                    Program.check(data, in.readNBytes(data.length));
                }
                if (in.read() >= 0) {
                    throw new IllegalStateException("there is more than was written");
                }
            }
        };
    }
}
