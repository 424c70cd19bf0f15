// SPDX-License-Identifier: Apache-2.0
// Runs with org.apache.spark:spark-core_2.13:4.2.0

import java.io.File;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A standalone cluster of Spark with two workers, and an application whose executors shuffle. With
 * {@code -Dmixed=true}, the last worker and its executor are without the agent.
 */
public final class Spark implements Program {
    private static final int WORKERS = 2;
    private static final int PORT = 17_077;
    private static final int PARTS = 4;

    public static void main(String[] arguments) throws Exception {
        Program.run(new Spark(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        Path folder = Files.createTempDirectory("spark");
        Path jars = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith(".jar")).map(Path::of).findFirst().orElseThrow().toAbsolutePath();
        // Where workers look for what executors run.
        Files.createSymbolicLink(folder.resolve("jars"), jars.getParent());
        List<String> options = ManagementFactory.getRuntimeMXBean().getInputArguments();
        start(folder, address, options, "master.Master", "--port", String.valueOf(PORT));
        Program.eventually(() -> {
            new Socket(address, PORT).close();
            return true;
        });
        for (int i = 0; i < WORKERS; i++) {
            if (Boolean.getBoolean("mixed") && i == WORKERS - 1) {
                options = options.stream().filter(option -> !option.startsWith("-javaagent:")).toList();
            }
            start(folder, address, options, "worker.Worker", "--cores", "1", "--memory", "512M", "--work-dir",
                    folder.resolve("work" + i).toString(), "spark://" + address + ":" + PORT);
        }
        return PORT;
    }

    @Override
    public int times() {
        return 1000;
    }

    private static void start(Path home, String address, List<String> options, String role, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java",
                "-Dspark.rpc.io.mode=NIO", "-Dspark.shuffle.io.mode=NIO", "-cp", System.getProperty("java.class.path"),
                "org.apache.spark.deploy." + role, "--host", address, "--webui-port", "0"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(Files.createTempFile(home, role, ".out").toFile());
        // Those that the worker starts have it, too.
        builder.environment().put("JAVA_TOOL_OPTIONS", String.join(" ", options));
        builder.environment().put("SPARK_HOME", home.toString());
        // As its scripts do.
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        builder.environment().put("SPARK_LOCAL_IP", address);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    }

    @Override
    public Client client(String address, int port) throws Exception {
        String here = System.getProperty("here", address);
        SparkConf configuration = new SparkConf().setAppName("shuffle").setMaster("spark://" + address + ":" + port)
                .set("spark.driver.host", here).set("spark.driver.bindAddress", here)
                .set("spark.rpc.io.mode", "NIO").set("spark.shuffle.io.mode", "NIO").set("spark.ui.enabled", "false")
                // So that what is counted is what was sent.
                .set("spark.shuffle.compress", "false").set("spark.executor.memory", "512m")
                // A shuffle is between both executors, and by their sockets, though they are on one host.
                .set("spark.shuffle.readHostLocalDisk", "false")
                .set("spark.cores.max", String.valueOf(WORKERS))
                .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
                .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "600s")
                .set("spark.executor.extraClassPath", Path.of(Spark.class.getProtectionDomain().getCodeSource()
                        .getLocation().toURI()).toString());
        JavaSparkContext context = new JavaSparkContext(configuration);
        return new Client() {
            @Override
            public void exchange(byte[] data, int times) {
                shuffle(context, data, times);
            }

            @Override
            public void close() {
                context.close();
            }
        };
    }

    private static void shuffle(JavaSparkContext context, byte[] data, int times) {
        List<Integer> numbers = IntStream.range(0, times).boxed().toList();
        // A clone, because an object that is the same is serialized once.
        long right = context.parallelize(new ArrayList<>(numbers), PARTS)
                .mapToPair(number -> new Tuple2<>(number, data.clone())).partitionBy(new HashPartitioner(PARTS))
                .filter(pair -> Arrays.equals(data, pair._2())).count();
        if (right != times) {
            throw new IllegalStateException(right + " of " + times);
        }
    }
}
