// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.UnionLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.efa.Efa;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.verbs_context;

/** The facts about C in the generated classes, each as a constant expression in C and its value in Java. */
public final class Facts {
    /** What a fact is about. */
    public enum Kind { SIZE, ALIGNMENT, OFFSET, MEMBER_SIZE, CONSTANT }

    /** One fact: the expression in C must have the value. */
    public record Fact(Kind kind, String name, String expression, long value) {
        /** Returns the fact in words. */
        public String claim() {
            return kind.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " of " + name;
        }
    }

    // the classes of the functions and constants, one a package
    private static final List<Class<?>> HEADERS = List.of(Rdma.class, Mlx5.class, Efa.class);

    private Facts() {
    }

    /** Prints all facts, one per line, for the test that needs those of another architecture. */
    public static void main(String[] args) {
        all().forEach(fact -> System.out.println(
                String.join("\t", fact.kind().name(), fact.name(), fact.expression(), Long.toString(fact.value()))));
    }

    /** Returns the fact in a line that {@link #main} printed. */
    public static Fact parse(String line) {
        String[] fields = line.split("\t");
        return new Fact(Kind.valueOf(fields[0]), fields[1], fields[2], Long.parseLong(fields[3]));
    }

    /** Returns all facts. */
    public static List<Fact> all() {
        List<Fact> facts = new ArrayList<>();
        topLevelClasses().stream().filter(Facts::isType).forEach(type -> addType(facts, type, tag(type)));
        addConstants(facts);
        return facts;
    }

    /** Returns the top-level classes of the bindings, sorted by name. */
    public static List<Class<?>> topLevelClasses() {
        return HEADERS.stream().map(Class::getPackageName).flatMap(name -> topLevelClasses(name).stream()).toList();
    }

    private static List<Class<?>> topLevelClasses(String packageName) {
        try {
            Path root = Path.of(Rdma.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (Stream<Path> files = Files.list(root.resolve(packageName.replace('.', '/')))) {
                return files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
                        .map(name -> load(packageName + "." + name.substring(0, name.length() - ".class".length())))
                        .filter(type -> type.getEnclosingClass() == null)
                        .sorted(Comparator.comparing(Class::getName))
                        .<Class<?>>map(type -> type)
                        .toList();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, Rdma.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isType(Class<?> type) {
        return Arrays.stream(type.getMethods()).anyMatch(method -> method.getName().equals("layout"));
    }

    private static String tag(Class<?> type) {
        return (call(type, "layout") instanceof UnionLayout ? "union " : "struct ") + type.getSimpleName();
    }

    private static void addType(List<Fact> facts, Class<?> type, String cType) {
        String name = type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
        GroupLayout layout = (GroupLayout) call(type, "layout");
        facts.add(new Fact(Kind.SIZE, name, "sizeof(" + cType + ")", layout.byteSize()));
        facts.add(new Fact(Kind.ALIGNMENT, name, "_Alignof(" + cType + ")", layout.byteAlignment()));
        for (Method method : sorted(type.getDeclaredMethods())) {
            if (method.getName().endsWith("$offset")) {
                String member = method.getName().substring(0, method.getName().length() - "$offset".length());
                MemoryLayout memberLayout = (MemoryLayout) call(type, member + "$layout");
                // The name in C, which Java may not allow as it is.
                String cMember = memberLayout.name().orElseThrow();
                facts.add(offset(type, cType, name + "." + cMember, cMember, (Long) call(type, method.getName())));
                // A flexible array member has no size in C.
                if (memberLayout.byteSize() > 0) {
                    facts.add(new Fact(Kind.MEMBER_SIZE, name + "." + cMember,
                            "sizeof(((" + cType + " *) 0)->" + cMember + ")", memberLayout.byteSize()));
                }
            }
        }
        Arrays.stream(type.getDeclaredClasses())
                .filter(Facts::isType)
                .sorted(Comparator.comparing(Class::getName))
                .forEach(nested -> addType(facts, nested, nestedType(type, cType, nested)));
    }

    private static Fact offset(Class<?> type, String cType, String name, String cMember, long value) {
        String expression = "(long) __builtin_offsetof(" + cType + ", " + cMember + ")";
        if (type != verbs_context.class) {
            return new Fact(Kind.OFFSET, name, expression, value);
        }
        // New releases add members at its beginning, so only offsets relative to its last member are fixed.
        return new Fact(Kind.OFFSET, name + " from context",
                expression + " - (long) __builtin_offsetof(" + cType + ", context)",
                value - verbs_context.context$offset());
    }

    /** A nested class is the type of the member that has its name, or of that member's elements. */
    private static String nestedType(Class<?> type, String cType, Class<?> nested) {
        String member = nested.getSimpleName();
        String element = call(type, member + "$layout") instanceof SequenceLayout ? "[0]" : "";
        return "__typeof__(((" + cType + " *) 0)->" + member + element + ")";
    }

    private static void addConstants(List<Fact> facts) {
        for (Method method : constants()) {
            String name = method.getName();
            // Unsigned constants have a signed type in Java: the cast compares the bits.
            String cast = method.getReturnType() == int.class ? "(int)" : "(long)";
            Object value = call(method.getDeclaringClass(), name);
            facts.add(new Fact(Kind.CONSTANT, name, cast + " (" + name + ")",
                    value instanceof MemorySegment pointer ? pointer.address() : ((Number) value).longValue()));
        }
    }

    /** Returns the methods of the header classes that return a constant. */
    public static List<Method> constants() {
        return headerMethods()
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 0
                        && !method.getName().contains("$") && !functions().contains(method.getName()))
                .toList();
    }

    /**
     * Returns the names of the functions: the methods of the header classes that have a descriptor, and the classes
     * that stand for functions with a variable number of arguments.
     */
    public static List<String> functions() {
        String suffix = "$descriptor";
        return Stream.concat(
                headerMethods()
                        .map(Method::getName)
                        .filter(name -> name.endsWith(suffix))
                        .map(name -> name.substring(0, name.length() - suffix.length())),
                variadicFunctions().stream().map(Class::getSimpleName)).toList();
    }

    /** Returns the classes that stand for functions with a variable number of arguments. */
    public static List<Class<?>> variadicFunctions() {
        return Arrays.stream(Rdma.class.getClasses()).<Class<?>>map(type -> type).toList();
    }

    /** Returns the header class that has a function. */
    public static Class<?> headerOf(String function) {
        return HEADERS.stream().filter(header -> Arrays.stream(header.getDeclaredMethods())
                .anyMatch(method -> method.getName().equals(function))).findFirst().orElseThrow();
    }

    private static Stream<Method> headerMethods() {
        return HEADERS.stream().flatMap(header -> sorted(header.getDeclaredMethods()).stream());
    }

    private static List<Method> sorted(Method[] methods) {
        return Arrays.stream(methods).sorted(Comparator.comparing(Method::getName)).toList();
    }

    private static Object call(Class<?> type, String method) {
        try {
            return type.getMethod(method).invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
