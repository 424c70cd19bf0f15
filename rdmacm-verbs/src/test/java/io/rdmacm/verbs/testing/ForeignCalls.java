// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The calls into and from native code, as GraalVM's reachability metadata names them: each type once, sorted. */
public final class ForeignCalls {
    private final SortedSet<String> downcalls = new TreeSet<>();
    private final SortedSet<String> upcalls = new TreeSet<>();

    /** Adds calls of functions of a type, which are linked without options. */
    public void downcall(FunctionDescriptor type) {
        downcall(type, "");
    }

    /**
     * Adds calls of functions of a type.
     *
     * @param options what they are linked with, in JSON
     */
    public void downcall(FunctionDescriptor type, String options) {
        downcalls.add("{" + json(type) + (options.isEmpty() ? "" : ", \"options\": {" + options + "}") + "}");
    }

    /** Adds calls from native code of a type. */
    public void upcall(FunctionDescriptor type) {
        upcalls.add("{" + json(type) + "}");
    }

    /** {@return the part "foreign" of the file} */
    public String toJson() {
        return "  \"foreign\": {\n    \"downcalls\": [\n" + lines(downcalls) + "    ],\n    \"upcalls\": [\n"
                + lines(upcalls) + "    ]\n  }\n";
    }

    /**
     * Looks for the classes of a module that call a method.
     *
     * @param member any class of the module
     * @param owner the class of the methods
     * @param methods their names
     * @return the names of those classes
     */
    public static Set<String> callers(Class<?> member, Class<?> owner, Collection<String> methods) throws IOException {
        return ModuleClasses.all(member).stream().filter(type -> calls(type, owner, methods)).map(Class::getName)
                .collect(Collectors.toSet());
    }

    private static boolean calls(Class<?> type, Class<?> owner, Collection<String> methods) {
        String called = owner.getName().replace('.', '/');
        return parse(type).methods().stream().flatMap(method -> method.code().stream())
                .flatMap(code -> code.elementStream()).anyMatch(element -> element instanceof InvokeInstruction invoke
                        && invoke.owner().asInternalName().equals(called)
                        && methods.contains(invoke.name().stringValue()));
    }

    private static ClassModel parse(Class<?> type) {
        try (InputStream bytes = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return ClassFile.of().parse(bytes.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String lines(Collection<String> calls) {
        return calls.isEmpty() ? "" : calls.stream().collect(Collectors.joining(",\n      ", "      ", "\n"));
    }

    private static String json(FunctionDescriptor type) {
        String parameters = type.argumentLayouts().stream().map(layout -> "\"" + name(layout) + "\"")
                .collect(Collectors.joining(", "));
        return "\"returnType\": \"" + type.returnLayout().map(ForeignCalls::name).orElse("void")
                + "\", \"parameterTypes\": [" + parameters + "]";
    }

    private static String name(MemoryLayout layout) {
        return switch (layout) {
            case AddressLayout pointer -> "void*";
            case ValueLayout value -> "j" + value.carrier().getName();
            case PaddingLayout padding -> "padding(" + padding.byteSize() + ")";
            case SequenceLayout array -> "sequence(" + array.elementCount() + ", " + name(array.elementLayout()) + ")";
            case GroupLayout group -> (group instanceof StructLayout ? "struct(" : "union(")
                    + names(group.memberLayouts()) + ")";
        };
    }

    private static String names(List<MemoryLayout> layouts) {
        return layouts.stream().map(ForeignCalls::name).collect(Collectors.joining(", "));
    }
}
