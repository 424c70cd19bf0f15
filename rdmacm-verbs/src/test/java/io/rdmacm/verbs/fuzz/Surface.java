// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a program can call: the public methods and constructors of public classes. */
public final class Surface {
    private final List<Class<?>> types = new ArrayList<>();
    // with those of the packages that are only known
    private final List<Executable> all = new ArrayList<>();
    private final List<Executable> calls = new ArrayList<>();
    private final Map<Class<?>, List<Executable>> makers = new HashMap<>();

    private Surface() {
    }

    /** The surface of some classes. */
    public static Surface of(List<Class<?>> classes) {
        return of(classes, List.of());
    }

    /**
     * The surface of some classes.
     *
     * @param classes whose members are called
     * @param known further classes, whose members are only called to make arguments
     */
    public static Surface of(List<Class<?>> classes, List<Class<?>> known) {
        Surface surface = new Surface();
        surface.add(classes);
        List<Class<?>> called = List.copyOf(surface.types);
        surface.add(known);
        for (Class<?> type : surface.types) {
            surface.addCalls(type, surface.all);
        }
        // The same order each time, for a seed to mean the same; the end of the objects last.
        surface.all.sort(Comparator.comparing((Executable call) -> call.getName().equals("close"))
                .thenComparing(Executable::toGenericString));
        surface.all.stream().filter(call -> called.contains(call.getDeclaringClass())).forEach(surface.calls::add);
        return surface;
    }

    private void add(List<Class<?>> classes) {
        classes.stream().filter(type -> isPublic(type) && !type.isAnnotation()).forEach(types::add);
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
