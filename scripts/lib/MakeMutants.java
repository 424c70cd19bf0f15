import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/// Makes mutants: copies of classes that lack something which a test has to notice. Run as
///
///     java MakeMutants.java MUTANTS FOLDER CLASS_PATH
///
/// or, to check that the file of mutants is of this code, with MUTANTS alone.
///
/// A mutant of the file of mutants is: a line `= what it lacks`, a line with a regular expression for the simple names
/// of the test classes that are to fail, a line with the source file, and blocks of lines as in a diff, of which those
/// with `-` must be in the source once, and are replaced by those with `+`; indentation does not count. With `*`
/// for the tests, it is no mutant: the change is there in all tests. The classes of mutant N go to FOLDER/mutant-N, those
/// for all tests to FOLDER/changed, and the list to FOLDER/mutants.tsv.
public final class MakeMutants {
    private final Path folder;
    private final String classPath;
    private final Map<Path, List<String>> changed = new HashMap<>();
    private final List<String> list = new ArrayList<>();

    private MakeMutants(Path folder, String classPath) {
        this.folder = folder;
        this.classPath = classPath;
    }

    public static void main(String[] args) throws IOException {
        boolean checks = args.length == 1;
        MakeMutants mutants = new MakeMutants(checks ? null : Path.of(args[1]), checks ? "" : args[2]);
        List<String> lines = Files.readAllLines(Path.of(args[0])).stream().filter(line -> !line.startsWith("#")).toList();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith("= ")) {
                int end = i + 1;
                while (end < lines.size() && !lines.get(end).startsWith("= ")) {
                    end++;
                }
                mutants.make(lines.subList(i, end));
            }
        }
        if (!checks) {
            Files.write(mutants.folder.resolve("mutants.tsv"), mutants.list);
        }
    }

    private void make(List<String> lines) throws IOException {
        String lacks = lines.get(0).substring(2);
        String tests = lines.get(1);
        Path file = Path.of(lines.get(2));
        List<String> source = changed.containsKey(file) ? changed.get(file) : Files.readAllLines(file);
        List<String> old = new ArrayList<>();
        List<String> replacement = new ArrayList<>();
        for (String line : lines.subList(3, lines.size())) {
            if (line.startsWith("-") && !replacement.isEmpty() || line.isBlank()) {
                source = replace(lacks, source, old, replacement);
                old.clear();
                replacement.clear();
            }
            if (!line.isBlank()) {
                (line.startsWith("-") ? old : replacement).add(line.substring(1).strip());
            }
        }
        source = replace(lacks, source, old, replacement);
        if (folder == null) {
            return;
        }
        if (tests.equals("*")) {
            changed.put(file, source);
            compile(lacks, file, source, folder.resolve("changed"));
        } else {
            int number = list.size() + 1;
            compile(lacks, file, source, folder.resolve("mutant-" + number));
            list.add(number + "\t" + tests + "\t" + lacks);
        }
    }

    private static List<String> replace(String lacks, List<String> source, List<String> old, List<String> replacement) {
        if (old.isEmpty()) {
            return source;
        }
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i + old.size() <= source.size(); i++) {
            List<String> lines = source.subList(i, i + old.size()).stream().map(String::strip).toList();
            if (lines.equals(old)) {
                found.add(i);
            }
        }
        if (found.size() != 1) {
            throw new IllegalStateException("\"" + lacks + "\": found " + found.size() + " times in the source: "
                    + old.stream().collect(Collectors.joining("\n")));
        }
        List<String> result = new ArrayList<>(source.subList(0, found.getFirst()));
        result.addAll(replacement);
        result.addAll(source.subList(found.getFirst() + old.size(), source.size()));
        return result;
    }

    private void compile(String lacks, Path file, List<String> source, Path classes) throws IOException {
        Path copy = folder.resolve("sources").resolve(classes.getFileName()).resolve(file.getFileName());
        Files.createDirectories(copy.getParent());
        Files.createDirectories(classes);
        Files.write(copy, source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler.run(null, null, null, "-nowarn", "-proc:none", "-d", classes.toString(), "-cp", classPath,
                copy.toString()) != 0) {
            throw new IllegalStateException("\"" + lacks + "\" does not compile");
        }
    }
}
