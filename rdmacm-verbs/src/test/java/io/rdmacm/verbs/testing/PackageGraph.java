// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** Which packages of compiled classes use which others, as jdeps reads it from the class files. */
public final class PackageGraph {
    private static final Pattern ARROW = Pattern.compile("\\s+(io\\.rdmacm\\.\\S+)\\s+->\\s+(io\\.rdmacm\\.\\S+)\\s.*");
    private static final ToolProvider JDEPS = ToolProvider.findFirst("jdeps").orElseThrow();

    private final SortedMap<String, Integer> classes;
    // from, to, and the uses between classes that make the arrow
    private final SortedMap<String, SortedMap<String, SortedSet<String>>> arrows;

    private PackageGraph(SortedMap<String, Integer> classes,
            SortedMap<String, SortedMap<String, SortedSet<String>>> arrows) {
        this.classes = classes;
        this.arrows = arrows;
    }

    /** The graph of the classes of this module: those in {@code target/classes}. */
    public static PackageGraph ofModule() throws IOException {
        return of(Path.of("target", "classes"));
    }

    /** The graph of all classes in a folder. */
    public static PackageGraph of(Path folder) throws IOException {
        // The folder of the packages: jdeps would resolve the requirements of a module descriptor.
        return new PackageGraph(count(folder), read(jdeps(folder.resolve("io"))));
    }

    private static String jdeps(Path folder) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        int status = JDEPS.run(writer, writer, "-verbose:class", "-filter:none", folder.toString());
        if (status != 0) {
            throw new AssertionError("jdeps ended with " + status + ": " + out);
        }
        return out.toString();
    }

    private static SortedMap<String, SortedMap<String, SortedSet<String>>> read(String report) {
        SortedMap<String, SortedMap<String, SortedSet<String>>> arrows = new TreeMap<>();
        report.lines().map(ARROW::matcher).filter(Matcher::matches).forEach(line -> {
            String from = packageOf(line.group(1));
            String to = packageOf(line.group(2));
            if (!from.equals(to)) {
                arrows.computeIfAbsent(from, name -> new TreeMap<>()).computeIfAbsent(to, name -> new TreeSet<>())
                        .add(line.group(1) + " -> " + line.group(2));
            }
        });
        return arrows;
    }

    private static SortedMap<String, Integer> count(Path folder) throws IOException {
        SortedMap<String, Integer> classes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            files.map(file -> folder.relativize(file).toString())
                    .filter(name -> name.endsWith(".class") && !name.contains("$") && !name.endsWith("-info.class"))
                    .forEach(name -> classes.merge(packageOf(name.replace('/', '.').replaceAll("\\.class$", "")), 1,
                            Integer::sum));
        }
        return classes;
    }

    private static String packageOf(String className) {
        return className.substring(0, className.lastIndexOf('.'));
    }

    /** The packages, and how many top-level classes each has. */
    public SortedMap<String, Integer> classes() {
        return classes;
    }

    /** The sets of packages that can reach each other, each sorted; empty if there is no cycle. */
    public List<List<String>> cycles() {
        Set<List<String>> cycles = new LinkedHashSet<>();
        for (String member : classes.keySet()) {
            List<String> circle = classes.keySet().stream()
                    .filter(other -> reachable(member).contains(other) && reachable(other).contains(member)).toList();
            if (!circle.isEmpty()) {
                cycles.add(circle);
            }
        }
        return List.copyOf(cycles);
    }

    /**
     * The uses that run upwards, or between packages of one layer, and those of packages that are in no layer.
     *
     * @param layers the packages from top to bottom; those of one layer do not know each other
     * @return class by class; empty if all run downwards
     */
    public List<String> upwards(List<Set<String>> layers) {
        List<String> wrong = new ArrayList<>();
        for (String member : classes.keySet()) {
            if (layer(layers, member) < 0) {
                wrong.add(member + " has no place in the layers");
            }
        }
        arrows.forEach((from, targets) -> targets.forEach((to, uses) -> {
            if (classes.containsKey(to) && layer(layers, to) <= layer(layers, from)) {
                wrong.addAll(uses);
            }
        }));
        return wrong;
    }

    private static int layer(List<Set<String>> layers, String member) {
        for (int i = 0; i < layers.size(); i++) {
            if (layers.get(i).contains(member)) {
                return i;
            }
        }
        return -1;
    }

    private Set<String> reachable(String start) {
        Set<String> found = new TreeSet<>();
        List<String> open = new ArrayList<>(List.of(start));
        while (!open.isEmpty()) {
            for (String next : arrows.getOrDefault(open.removeLast(), new TreeMap<>()).keySet()) {
                if (found.add(next)) {
                    open.add(next);
                }
            }
        }
        return found;
    }

    /** A line for each package: its classes and the packages that it uses. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        classes.forEach((name, count) -> text.append(String.format("%-34s %3d %s -> %s%n", name, count,
                count == 1 ? "class  " : "classes", String.join(" ", arrows.getOrDefault(name, new TreeMap<>())
                        .keySet().stream().map(used -> used.replace("io.rdmacm.", "")).toList()))));
        return text.toString();
    }
}
