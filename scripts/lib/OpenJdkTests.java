// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * OpenJDK's tests of channels, run as their {@code @run} lines say, each in a JVM of its own: without the agent, with
 * it over TCP, and with it over RDMA. A test that passes without the agent has to pass with it, but for those in
 * {@code openjdk-tests.txt}. There is no RDMA over the loopback interface, so the tests get another host instead.
 */
public final class OpenJdkTests {
    private static final List<String> FOLDERS = List.of("", "SelectionKey", "Selector", "ServerSocketChannel",
            "SocketChannel", "etc", "vthread");
    private static final Pattern COMMENT = Pattern.compile("/\\*(?:(?!\\*/).)*?@test\\b.*?\\*/", Pattern.DOTALL);
    // A line of it, and the lines that continue it.
    private static final Pattern RUN = Pattern.compile("@run\\s+(main|testng|junit)(\\S*)((?:(?!\\n[\\s*]*@|\\*/).)*)",
            Pattern.DOTALL);
    private static final Pattern HERE = Pattern.compile(
            "InetAddress\\.getLoopbackAddress\\(\\)|InetAddress\\.getByName\\((?:\"127\\.0\\.0\\.1\"|null)\\)");
    private static final List<String> EXPORTS = Stream.of("sun.net.ext", "sun.nio.ch", "jdk.internal.misc")
            .flatMap(name -> Stream.of("--add-exports", "java.base/" + name + "=ALL-UNNAMED")).toList();
    private static final String HOST = "openjdk.tests.host";
    private static final int SECONDS = 600;
    // What SoftRoCE has sent.
    private static final Path PACKETS = Path.of("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts");
    private static final JavaCompiler JAVAC = ToolProvider.getSystemJavaCompiler();

    private record Run(String folder, String kind, List<String> options, List<String> call) {
        String test() {
            return call.getFirst();
        }

        String name() {
            return (folder.isEmpty() ? "" : folder + "/") + String.join(" ", Stream.concat(call.stream(),
                    options.stream()).toList());
        }
    }

    private enum Mode { PLAIN, TCP, RDMA }

    private final Path checkout;
    private final Path tests;
    private final Path out;
    private final String jars;

    private OpenJdkTests(Path checkout, Path out) throws IOException {
        this.checkout = checkout;
        tests = checkout.resolve("test/jdk/java/nio/channels");
        this.out = out;
        try (Stream<Path> files = Files.list(out.resolve("lib"))) {
            jars = String.join(File.pathSeparator, files.map(Path::toString).toList());
        }
    }

    /** What the tests get instead of the loopback address. */
    public static InetAddress host() {
        return InetAddress.ofLiteral(System.getProperty(HOST));
    }

    /** Arguments: build DIR OUT; run DIR OUT AGENT TEXT; or of the JVM of a test: its class, and its arguments. */
    public static void main(String... arguments) throws Exception {
        switch (arguments[0]) {
            case "build" -> new OpenJdkTests(Path.of(arguments[1]), Path.of(arguments[2])).build();
            case "run" -> System.exit(new OpenJdkTests(Path.of(arguments[1]), Path.of(arguments[2])).run(arguments[3],
                    arguments[4]) ? 0 : 1);
            default -> call(arguments[0], Arrays.copyOfRange(arguments, 1, arguments.length));
        }
    }

    /** Calls a main method: an exception in any of its threads is a failure, and its threads end with it. */
    private static void call(String name, String[] arguments) throws InterruptedException {
        AtomicBoolean failed = new AtomicBoolean();
        Thread.Builder.OfPlatform threads = Thread.ofPlatform().name("main")
                .group(new ThreadGroup("test") {
                    @Override
                    public void uncaughtException(Thread thread, Throwable thrown) {
                        failed.set(true);
                        thrown.printStackTrace();
                    }
                });
        threads.start(() -> {
            try {
                var main = Class.forName(name).getDeclaredMethod("main", String[].class);
                main.setAccessible(true);
                main.invoke(null, (Object) arguments);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }).join();
        System.out.flush();
        Runtime.getRuntime().halt(failed.get() ? 1 : 0);
    }

    private List<Run> runs() throws IOException {
        List<Run> runs = new ArrayList<>();
        for (String folder : FOLDERS) {
            try (Stream<Path> files = Files.list(tests.resolve(folder))) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
                    COMMENT.matcher(Files.readString(file)).results().map(found -> found.group())
                            .filter(OpenJdkTests::isForLinux).forEach(comment -> addRuns(folder, file, comment, runs));
                }
            }
        }
        return runs;
    }

    private static boolean isForLinux(String comment) {
        return !comment.contains("os.family ==") || comment.toLowerCase().contains("\"linux\"");
    }

    private static void addRuns(String folder, Path file, String comment, List<Run> runs) {
        if (!comment.contains("@run")) {
            runs.add(new Run(folder, "main", List.of(), List.of(file.getFileName().toString().replace(".java", ""))));
        }
        for (Matcher run = RUN.matcher(comment); run.find();) {
            // Native code of tests, and a JDK without the agent's modules, are not for here.
            if (!run.group(2).contains("native") && !run.group(3).matches("(?s).*(--limit-modules|Windows).*")) {
                List<String> words = List.of(run.group(3).replaceAll("\n\\s*\\*", "\n").strip().split("\\s+"));
                int call = (int) words.stream().takeWhile(word -> word.startsWith("-")).count();
                runs.add(new Run(folder, run.group(1), words.subList(0, call), words.subList(call, words.size())));
            }
        }
    }

    private void build() throws IOException {
        compile(Path.of("scripts/lib/OpenJdkTests.java"), out.resolve("classes"), "");
        for (String folder : FOLDERS) {
            try (Stream<Path> files = Files.list(tests.resolve(folder))) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    Path copy = out.resolve("src").resolve(folder).resolve(file.getFileName());
                    Files.createDirectories(copy.getParent());
                    Files.writeString(copy, HERE.matcher(Files.readString(file)).replaceAll("OpenJdkTests.host()"));
                }
            }
        }
        Path lib = checkout.resolve("test/lib");
        for (Run run : runs()) {
            Path classes = out.resolve("classes").resolve(run.folder().isEmpty() ? "channels" : run.folder());
            Path source = out.resolve("src").resolve(run.folder()).resolve(run.test() + ".java");
            if (Files.exists(source) && !Files.exists(classes.resolve(run.test() + ".class"))) {
                compile(source, classes, String.join(File.pathSeparator, source.getParent().toString(),
                        out.resolve("src").toString(), lib.toString()));
            }
        }
    }

    private void compile(Path file, Path classes, String sources) throws IOException {
        Files.createDirectories(classes);
        StringWriter errors = new StringWriter();
        List<String> options = new ArrayList<>(EXPORTS);
        options.addAll(List.of("-nowarn", "-proc:none", "-d", classes.toString(), "-sourcepath", sources, "-cp",
                out.resolve("classes") + File.pathSeparator + jars));
        try (StandardJavaFileManager manager = JAVAC.getStandardFileManager(null, null, null)) {
            if (!JAVAC.getTask(errors, manager, null, options, null, manager.getJavaFileObjects(file)).call()) {
                System.out.println(file + " cannot be compiled: " + errors.toString().lines().findFirst().orElse(""));
            }
        }
    }

    /** Runs those with a text in their name, and tells whether all did as expected. */
    private boolean run(String agent, String text) throws Exception {
        Map<String, String> expected = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Path.of("scripts/lib/openjdk-tests.txt"))) {
            if (!line.isBlank() && !line.startsWith("#")) {
                expected.put(line.split(": ", 2)[0], line.split(": ", 2)[1]);
            }
        }
        String address = address();
        Files.writeString(out.resolve("rules"), "deny both * *\n");
        Map<String, Integer> counts = new TreeMap<>();
        boolean good = true;
        for (Run run : runs()) {
            if (!run.name().contains(text)) {
                continue;
            }
            boolean plain = false;
            StringBuilder line = new StringBuilder();
            for (Mode mode : Mode.values()) {
                long packets = packets();
                boolean passed = run(run, mode, agent, address);
                plain |= mode == Mode.PLAIN && passed;
                String reason = mode == Mode.RDMA ? expected.get(run.name()) : null;
                String what = passed ? "passed" : plain && reason == null ? "FAILED" : "failed";
                good &= !what.equals("FAILED");
                line.append(", ").append(mode).append(' ').append(what);
                counts.merge(mode + " " + (passed ? "passed" : !plain ? "failed as without the agent" : reason != null
                        ? "failed as expected" : "FAILED"), 1, Integer::sum);
                if (packets() > packets) {
                    counts.merge(mode + " with packets of RDMA", 1, Integer::sum);
                }
                line.append(passed || reason == null ? "" : " (" + reason + ")");
            }
            System.out.println(run.name() + ": " + line.substring(2));
        }
        counts.forEach((what, count) -> System.out.println(count + " " + what));
        return good && !counts.isEmpty();
    }

    private boolean run(Run run, Mode mode, String agent, String address) throws Exception {
        String folder = run.folder().isEmpty() ? "channels" : run.folder();
        Path hosts = Files.writeString(out.resolve("hosts"), (mode == Mode.RDMA ? address : "127.0.0.1") + " localhost "
                + Files.readString(Path.of("/proc/sys/kernel/hostname")));
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(EXPORTS);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Dtest.timeout.factor=5",
                "-Djdk.net.hosts.file=" + hosts, "-D" + HOST + "=" + (mode == Mode.RDMA ? address : "127.0.0.1")));
        if (mode != Mode.PLAIN) {
            command.add("-javaagent:" + agent + "=" + (mode == Mode.RDMA ? "beside:30000" : out.resolve("rules")));
        }
        command.addAll(run.options());
        String path = out.resolve("classes") + ":" + out.resolve("classes").resolve(folder) + ":" + jars;
        // What jtreg tells of itself.
        command.addAll(List.of("-Dtest.jdk=" + System.getProperty("java.home"), "-Dtest.class.path=" + path));
        command.addAll(List.of("-cp", path));
        if (run.kind().equals("main")) {
            command.add("OpenJdkTests");
            command.addAll(run.call());
        } else {
            command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner",
                    "--fail-if-no-tests", "--select-class", run.test()));
        }
        Path log = out.resolve("log").resolve(mode + "/" + run.name().replaceAll("[^\\w.-]+", "-") + ".log");
        Files.createDirectories(log.getParent());
        Process process = new ProcessBuilder(command).directory(log.getParent().toFile())
                .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        process.getOutputStream().close();
        if (process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            return process.exitValue() == 0;
        }
        process.destroyForcibly().waitFor();
        return false;
    }

    /** The IPv4 address of the first RDMA device that has one. */
    private static String address() throws IOException {
        try (Stream<Path> devices = Files.list(Path.of("/sys/class/infiniband"))) {
            for (Path device : devices.toList()) {
                String name = Files.readString(device.resolve("ports/1/gid_attrs/ndevs/0")).strip();
                for (InetAddress each : Collections.list(NetworkInterface.getByName(name).getInetAddresses())) {
                    if (each instanceof Inet4Address) {
                        return each.getHostAddress();
                    }
                }
            }
        }
        throw new IOException("no RDMA device has an IPv4 address");
    }

    private static long packets() throws IOException {
        return Files.exists(PACKETS) ? Long.parseLong(Files.readString(PACKETS).strip()) : 0;
    }
}
