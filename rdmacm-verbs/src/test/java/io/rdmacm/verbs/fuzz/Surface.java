// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
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
    // with those of the packages that are only known
    private final List<Executable> all = new ArrayList<>();
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
        return of(List.of(members), List.of());
    }

    /**
     * The surface of packages, with those of others for what they take.
     *
     * @param members a class of each package
     * @param known a class of each of the others
     */
    public static Surface of(List<Class<?>> members, List<Class<?>> known) throws IOException {
        Surface surface = new Surface();
        for (Class<?> member : members) {
            surface.add(member);
        }
        List<Class<?>> called = List.copyOf(surface.types);
        for (Class<?> member : known) {
            surface.add(member);
        }
        for (Class<?> type : surface.types) {
            surface.addCalls(type, surface.all);
        }
        // The same order each time, for a seed to mean the same; the end of the objects last.
        surface.all.sort(Comparator.comparing((Executable call) -> call.getName().equals("close"))
                .thenComparing(Executable::toGenericString));
        surface.all.stream().filter(call -> called.contains(call.getDeclaringClass())).forEach(surface.calls::add);
        return surface;
    }

    private void add(Class<?> member) throws IOException {
        String folder = member.getPackageName().replace('.', '/');
        try {
            Path place = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                add(member, place.resolve(folder));
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(place)) {
                    add(member, jar.getPath(folder));
                }
            }
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private void add(Class<?> member, Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".class")).sorted()
                    .map(name -> load(member, name.substring(0, name.length() - ".class".length())))
                    .filter(type -> isPublic(type) && !type.isAnnotation()).forEach(types::add);
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

    private void addCalls(Class<?> type, List<Executable> calls) {
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
        return all.stream().filter(call -> call instanceof Constructor<?>
                ? type.isAssignableFrom(call.getDeclaringClass())
                : type.isAssignableFrom(((Method) call).getReturnType()) && (Modifier.isStatic(call.getModifiers())
                        || call.getParameterCount() == 0 && call.getName().equals("build")))
                .toList();
    }
}
