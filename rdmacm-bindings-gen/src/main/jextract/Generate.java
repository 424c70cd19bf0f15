// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Generates the bindings: runs jextract on {@code rdmacm.h}, {@code mlx5.h} and {@code efa.h}, adapts its output,
 * checks it, and only then replaces {@code src/generated}. Takes the directory of the module as its argument; Maven
 * runs it in the profile jextract:
 * {@snippet lang=shell :
 * ./mvnw -Pjextract -pl rdmacm-bindings-gen generate-sources
 * }
 *
 * <p>jextract is found by the environment variable {@code JEXTRACT_HOME}, or on the {@code PATH}. The headers are those
 * that are installed, or those of a source tree of rdma-core that was built, if {@code RDMA_CORE_BUILD} is the path of
 * its build directory.
 *
 * <p>What jextract writes is changed in these seven places, and nowhere else:
 * <ol>
 * <li>Symbols are looked up by {@code NativeLibrary} when a function is used, by soname. jextract's own
 *     {@code -l} option opens the libraries in a static initialiser, so that on a machine without them even the
 *     constants are out of reach.</li>
 * <li>The handles of function pointers come from {@code NativeLibrary} as well, for the same reason.</li>
 * <li>So do those of functions with a variable number of arguments, which then report a missing library or function
 *     as it is: jextract would wrap the error in an AssertionError.</li>
 * <li>So does {@code C_POINTER}, the root of all layouts, because a JVM that denies native access throws there.</li>
 * <li>The size of the mutex, the only one that depends on the architecture, comes from {@code Platform}. All offsets
 *     behind a mutex follow, since jextract derives offsets from layouts.</li>
 * <li>The classes carry {@code @SuppressWarnings("restricted")}, the only lint warning that they cause.</li>
 * <li>Those of {@code mlx5.h} and {@code efa.h} import {@code NativeLibrary}, which is in another package.</li>
 * </ol>
 */
public final class Generate {
    private static final String PACKAGE = "io.rdmacm.bindings";
    private static final Header RDMA = new Header("rdmacm.h", "includes.txt", PACKAGE, "Rdma", Map.of(
            "ibv_send_wr", List.of("imm_data", "invalidate_rkey", "bind_mw", "tso"),
            "ibv_wc", List.of("imm_data", "invalidated_rkey"),
            "ibv_flow_spec", List.of("hdr", "eth", "esp")));
    private static final List<Header> HEADERS = List.of(RDMA,
            new Header("mlx5.h", "mlx5-includes.txt", PACKAGE + ".mlx5", "Mlx5", Map.of(
                    "mlx5_cqe64", List.of("wqe_id", "flags_rqpn", "tm_cqe"),
                    "mlx5_wqe_umr_ctrl_seg", List.of("translation_offset", "bsf_octowords"))),
            new Header("efa.h", "efa-includes.txt", PACKAGE + ".efa", "Efa", Map.of()));
    private static final int OLDEST_JEXTRACT = 25;
    private static final int FIRST_BAD_LIBCLANG = 16;

    private final Path sources;
    private final Path generated;

    // null: the installed headers
    private final Path rdmaCore;

    private Generate(Path module, Map<String, String> environment) {
        sources = module.resolve("src/main/jextract");
        generated = module.resolve("src/generated");
        String build = environment.getOrDefault("RDMA_CORE_BUILD", "");
        rdmaCore = build.isEmpty() ? null : Path.of(build);
    }

    /**
     * Runs the generator; exits 1 with one line on standard error when it cannot.
     *
     * @param args the directory of the module
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length != 1) {
            System.err.println("usage: Generate MODULE_DIRECTORY");
            System.exit(2);
        }
        try {
            new Generate(Path.of(args[0]).toAbsolutePath().normalize(), System.getenv()).run();
        } catch (Failure failure) {
            System.err.println("jextract: " + failure.getMessage());
            System.exit(1);
        }
    }

    private void run() throws IOException, InterruptedException {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!platform.equals("Linux amd64")) {
            throw new Failure("the committed sources are generated on Linux amd64, this is " + platform);
        }
        Path jextract = findJextract(System.getenv());
        // An empty working directory, because jextract reads a compile_flags.txt that it finds there.
        Path work = Files.createTempDirectory("jextract");
        // Beside the old sources, so that moving it there is a rename.
        Files.createDirectories(generated.getParent());
        Path fresh = Files.createTempDirectory(generated.getParent(), ".generated");
        try {
            Map<String, String> provenance = versions(jextract, work);
            for (Header header : HEADERS) {
                extract(jextract, work, header, fresh.resolve("java"));
                Path files = fresh.resolve("java").resolve(header.packageName().replace('.', '/'));
                adapt(header, files);
                check(header, files).forEach((kind, count) -> provenance.merge(kind, count, Generate::sum));
            }
            write(provenance, fresh.resolve("GENERATED.properties"));
            replace(fresh);
            System.out.println("generated " + provenance);
        } finally {
            delete(fresh);
            delete(work);
        }
    }

    private static Path findJextract(Map<String, String> environment) {
        String home = environment.getOrDefault("JEXTRACT_HOME", "");
        if (!home.isEmpty()) {
            Path jextract = Path.of(home, "bin", "jextract");
            if (!Files.isExecutable(jextract)) {
                throw new Failure("JEXTRACT_HOME is " + home + ", but there is no executable bin/jextract in it");
            }
            return jextract;
        }
        return Stream.of(environment.getOrDefault("PATH", "").split(":"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, "jextract"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new Failure("not found: install jextract " + OLDEST_JEXTRACT
                        + " of OpenJDK, and set JEXTRACT_HOME or put it on the PATH"));
    }

    private Map<String, String> versions(Path jextract, Path work) throws IOException, InterruptedException {
        Output output = execute(work, List.of(jextract.toString(), "--version"));
        if (output.status() != 0) {
            throw new Failure(jextract + " --version fails: " + output.text());
        }
        String jextractVersion = find("(?m)^jextract (\\S+)", output.text(), "a version of jextract");
        String clangVersion = find("(?m)^LibClang version (.+)$", output.text(), "a version of libclang");
        int jextractMajor = number(find("^(\\d+)", jextractVersion, "a number in the version of jextract"));
        int clangMajor = number(find("version (\\d+)", clangVersion, "a number in the version of libclang"));
        if (jextractMajor < OLDEST_JEXTRACT) {
            throw new Failure("this is version " + jextractVersion + ", but " + OLDEST_JEXTRACT + " is needed");
        }
        if (clangMajor >= FIRST_BAD_LIBCLANG) {
            throw new Failure("it runs on libclang " + clangMajor + ", with which it silently leaves out anonymous "
                    + "unions: use one with libclang " + (FIRST_BAD_LIBCLANG - 1) + " or older");
        }
        Map<String, String> versions = new TreeMap<>();
        versions.put("jextract", jextractVersion);
        versions.put("libclang", clangVersion);
        versions.put("rdma-core", rdmaCoreVersion());
        versions.put("os", System.getProperty("os.name"));
        versions.put("arch", System.getProperty("os.arch"));
        return versions;
    }

    /** libibverbs.pc says 1.14.44.0 for rdma-core 44.0. */
    private String rdmaCoreVersion() throws IOException {
        Stream<Path> libraries = rdmaCore == null
                ? Stream.of("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib").map(Path::of)
                : Stream.of(rdmaCore.resolve("lib"));
        Path file = libraries.map(directory -> directory.resolve("pkgconfig/libibverbs.pc")).filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new Failure("libibverbs.pc not found: " + (rdmaCore == null
                        ? "install libibverbs-dev and librdmacm-dev" : "nothing was built in " + rdmaCore)));
        return find("(?m)^Version: \\d+\\.\\d+\\.(\\S+)", Files.readString(file), "a version in " + file);
    }

    private void extract(Path jextract, Path work, Header header, Path output)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(jextract.toString(), "--output", output.toString(),
                "--target-package", header.packageName(), "--header-class-name", header.className(),
                "@" + sources.resolve(header.includes())));
        if (rdmaCore != null) {
            command.addAll(List.of("--include-dir", rdmaCore.resolve("include").toString()));
        }
        command.add(sources.resolve(header.file()).toString());
        Output result = execute(work, command);
        // It warns about what it leaves out, and exits 0 all the same.
        if (result.status() != 0 || !result.text().isBlank()) {
            throw new Failure("exit status " + result.status() + ", saying: " + result.text());
        }
        if (!Files.exists(output)) {
            throw new Failure("exit status 0, but no sources");
        }
    }

    private static void adapt(Header header, Path directory) throws IOException {
        String headerClass = header.className();
        for (Path file : list(directory)) {
            String name = file.getFileName().toString();
            String text = Files.readString(file);
            text = replace(text, 1, "// Generated by jextract\n",
                    "// Generated by jextract and adapted by Generate.java: do not edit\n");
            text = replace(text, 1, "(?m)^public class ", "@SuppressWarnings(\"restricted\")\npublic class ");
            text = text.replace("DOWN$MH = Linker.nativeLinker().downcallHandle($DESC);",
                    "DOWN$MH = NativeLibrary.downcall($DESC);");
            if (name.equals(headerClass + ".java")) {
                text = adaptFunctions(text);
            } else if (name.equals(headerClass + "$shared.java")) {
                text = replace(text, 1, "C_POINTER = \\(.*\\n.*\\.withTargetLayout\\((.*)\\);\n",
                        "C_POINTER = NativeLibrary.pointerTo($1);\n");
            } else if (name.equals("opaque_pthread_mutex.java")) {
                text = adaptMutex(text);
            }
            if (header != RDMA && text.contains("NativeLibrary.")) {
                text = replace(text, 1, "(?m)^(package .*;\n)", "$1\nimport " + PACKAGE + ".NativeLibrary;\n");
            }
            Files.writeString(file, text);
        }
    }

    private static String adaptFunctions(String text) {
        int variadic = count(" makeInvoker\\(", text);
        int functions = count("findOrThrow\\(", text) - variadic;
        String adapted = replace(text, 1, "    static final Arena LIBRARY_ARENA = .*;\n\n", "");
        adapted = replace(adapted, 1, "    static final SymbolLookup SYMBOL_LOOKUP = .*\n.*;\n\n", "");
        adapted = replace(adapted, functions,
                "        public static final MemorySegment ADDR = SYMBOL_LOOKUP\\.findOrThrow\\((\".*\")\\);\n\n"
                + "(.*) = Linker\\.nativeLinker\\(\\)\\.downcallHandle\\(ADDR, DESC\\);",
                "$2 = NativeLibrary.downcall($1, DESC);");
        adapted = replace(adapted, functions, "return (\\w+)\\.ADDR;", "return NativeLibrary.addressOf(\"$1\");");
        return variadic == 0 ? adapted : adaptVariadicFunctions(adapted, variadic);
    }

    private static String adaptVariadicFunctions(String text, int functions) {
        // From the address to its other use, in the same class.
        String adapted = replace(text, functions,
                "(?s)        private static final MemorySegment ADDR = SYMBOL_LOOKUP\\.findOrThrow\\((\"\\w+\")\\);\n"
                + "(.*?)Linker\\.nativeLinker\\(\\)\\.downcallHandle\\(ADDR, (.*?)return ADDR;",
                "$2NativeLibrary.downcall($1, $3return NativeLibrary.addressOf($1);");
        return replace(adapted, functions, "catch\\(IllegalArgumentException \\| ClassCastException ex\\$\\) +\\{\n"
                + "(.*?)throw ex\\$; .*\n", "catch (Error | RuntimeException ex\\$) {\n$1throw ex\\$;\n");
    }

    private static String adaptMutex(String text) {
        String adapted = text.replaceAll("bytes\\[\\d+]", "bytes[sizeof(pthread_mutex_t)]");
        adapted = replace(adapted, 1, "sequenceLayout\\(\\d+, (.*)\\)\\.withName\\(\"bytes\"\\)",
                "sequenceLayout(Platform.MUTEX_SIZE, $1).withName(\"bytes\")");
        return replace(adapted, 1, "DIMS = \\{ \\d+ };", "DIMS = { Platform.MUTEX_SIZE };");
    }

    /** Everything that was asked for is there, and what libclang must not lose is. */
    private Map<String, String> check(Header header, Path directory) throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        String functionsAndConstants = Files.readString(directory.resolve(header.className() + ".java"));
        for (String line : Files.readAllLines(sources.resolve(header.includes()))) {
            if (line.startsWith("#")) {
                continue;
            }
            String kind = find("^--include-(\\w+) \\w+$", line, "an option in " + header.includes());
            String name = line.substring(line.indexOf(' ') + 1);
            boolean found = switch (kind) {
                case "constant" -> functionsAndConstants.contains(" " + name + "() {");
                case "function" -> functionsAndConstants.contains(" " + name + "(")
                        && functionsAndConstants.contains(" " + name + "$descriptor() {")
                        || functionsAndConstants.contains(" " + name + " makeInvoker(");
                case "struct", "union" -> Files.exists(directory.resolve(name + ".java"));
                default -> throw new Failure(header.includes() + ": no rule for " + line);
            };
            if (!found) {
                throw new Failure("the output lacks the " + kind + " " + name);
            }
            counts.merge(kind + "s", 1, Integer::sum);
        }
        for (Map.Entry<String, List<String>> probe : header.probes().entrySet()) {
            String text = Files.readString(directory.resolve(probe.getKey() + ".java"));
            for (String member : probe.getValue()) {
                if (!text.contains(" " + member + "$offset() {")) {
                    throw new Failure("the output lacks the member " + member + " of " + probe.getKey());
                }
            }
        }
        for (Path file : list(directory)) {
            if (Files.readString(file).matches("(?s).*\\$OFFSET = \\d.*")) {
                throw new Failure("an offset in " + file.getFileName() + " is not derived from its layout");
            }
        }
        Map<String, String> result = new TreeMap<>();
        counts.forEach((kind, count) -> result.put(kind, count.toString()));
        return result;
    }

    /** Sorted and without a date, so that the same tools write the same file. */
    private static void write(Map<String, String> provenance, Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("# What src/generated/java was made with");
        provenance.forEach((key, value) -> lines.add(key + "=" + value));
        Files.write(file, lines);
    }

    /** Two renames: whatever happens, one complete set of sources is in place or beside it. */
    private void replace(Path fresh) throws IOException {
        // A temporary directory is private, the sources are not.
        Files.setPosixFilePermissions(fresh, Files.getPosixFilePermissions(generated.getParent()));
        Path old = generated.resolveSibling(".generated.old");
        delete(old);
        if (Files.exists(generated)) {
            Files.move(generated, old, StandardCopyOption.ATOMIC_MOVE);
        }
        try {
            Files.move(fresh, generated, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            if (Files.exists(old)) {
                Files.move(old, generated, StandardCopyOption.ATOMIC_MOVE);
            }
            throw failed;
        }
        delete(old);
    }

    private static String replace(String text, int expected, String pattern, String replacement) {
        int found = count(pattern, text);
        if (found != expected || found == 0) {
            throw new Failure("unexpected output, " + found + " instead of " + expected + " matches of "
                    + pattern.replace("\n", "\\n"));
        }
        return text.replaceAll(pattern, replacement);
    }

    private static int count(String pattern, String text) {
        return (int) Pattern.compile(pattern).matcher(text).results().count();
    }

    private static String find(String pattern, String text, String what) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        if (!matcher.find()) {
            throw new Failure("cannot find " + what + " in: " + text);
        }
        return matcher.group(1);
    }

    private static String sum(String a, String b) {
        return Integer.toString(number(a) + number(b));
    }

    private static int number(String digits) {
        return Integer.parseInt(digits);
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static Output execute(Path work, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes());
        return new Output(process.waitFor(), text.strip());
    }

    /**
     * A header that jextract reads.
     *
     * @param includes the list of what it takes
     * @param packageName where the classes go
     * @param className the class of the functions and constants
     * @param probes members that a libclang too new for jextract turns into padding: they sit in anonymous unions
     */
    private record Header(String file, String includes, String packageName, String className,
            Map<String, List<String>> probes) {
    }

    private record Output(int status, String text) {
    }

    private static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String message) {
            super(message);
        }
    }
}
