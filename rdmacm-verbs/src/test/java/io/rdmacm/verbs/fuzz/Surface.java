// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What a program can call: the public methods and constructors of the public classes of packages. */
public final class Surface {
    private final List<Class<?>> types = new ArrayList<>();
    private final List<Executable> calls = new ArrayList<>();
    private final Map<Class<?>, List<Executable>> makers = new HashMap<>();

    private Surface() {
    }

    /**
     * The surface of packages.
     *
     * @param members a class of each package
     */
    public static Surface of(Class<?>... members) throws IOException {
        Surface surface = new Surface();
        for (Class<?> member : members) {
            surface.add(member);
        }
        for (Class<?> type : surface.types) {
            surface.addCalls(type);
        }
        // The same order each time, for a seed to mean the same; the end of the objects last.
        surface.calls.sort(Comparator.comparing((Executable call) -> call.getName().equals("close"))
                .thenComparing(Executable::toGenericString));
        return surface;
    }

    private void add(Class<?> member) throws IOException {
        try {
            Path place = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path folder = place.resolve(member.getPackageName().replace('.', '/'));
            try (Stream<Path> files = Files.list(folder)) {
                files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".class")).sorted()
                        .map(name -> load(member, name.substring(0, name.length() - ".class".length())))
                        .filter(type -> isPublic(type) && !type.isAnnotation()).forEach(types::add);
            }
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Class<?> load(Class<?> member, String name) {
        try {
            return Class.forName(member.getPackageName() + "." + name, false, member.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        for (Class<?> outer = type; outer != null; outer = outer.getEnclosingClass()) {
            if (!Modifier.isPublic(outer.getModifiers())) {
                return false;
            }
        }
        return true;
    }

    private void addCalls(Class<?> type) {
        for (Method method : type.getMethods()) {
            if (types.contains(method.getDeclaringClass()) && method.getDeclaringClass() == type
                    && !method.isBridge() && !method.isSynthetic()) {
                calls.add(method);
            }
        }
        if (!Modifier.isAbstract(type.getModifiers())) {
            for (Constructor<?> constructor : type.getConstructors()) {
                calls.add(constructor);
            }
        }
    }

    /** The classes. */
    public List<Class<?>> types() {
        return types;
    }

    /** All methods and constructors. */
    public List<Executable> calls() {
        return calls;
    }

    /** The static methods and constructors that make an object of a type. */
    List<Executable> makersOf(Class<?> type) {
        return makers.computeIfAbsent(type, this::findMakersOf);
    }

    private List<Executable> findMakersOf(Class<?> type) {
        return calls.stream().filter(call -> call instanceof Constructor<?>
                ? type.isAssignableFrom(call.getDeclaringClass())
                : type.isAssignableFrom(((Method) call).getReturnType()) && (Modifier.isStatic(call.getModifiers())
                        || call.getParameterCount() == 0 && call.getName().equals("build")))
                .toList();
    }
}
