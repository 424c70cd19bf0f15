// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.verbs.NativeObject;
import org.junit.jupiter.api.DynamicTest;

/**
 * Use after close is an IllegalStateException: one test for each public method of each public {@link NativeObject}
 * among some classes. A class that the test has no closed object of fails it.
 */
public final class UseAfterClose {
    private static final Set<String> ALLOWED = Set.of("close", "isOpen", "toString", "equals", "hashCode");

    private final List<Class<?>> types;
    private final Map<Class<?>, NativeObject> objects = new HashMap<>();
    private final Map<Class<?>, Object> arguments = new HashMap<>(Map.of(int.class, 1, long.class, 1L, boolean.class,
            false, Duration.class, Duration.ZERO));

    private UseAfterClose(List<Class<?>> types) {
        this.types = types;
    }

    /** Tests of the native objects among these classes. */
    public static UseAfterClose of(List<Class<?>> classes) {
        List<Class<?>> types = classes.stream().filter(type -> NativeObject.class.isAssignableFrom(type)
                && Modifier.isPublic(type.getModifiers()) && !Modifier.isAbstract(type.getModifiers())).toList();
        assertThat(types).describedAs("native objects").isNotEmpty();
        return new UseAfterClose(types);
    }

    /** An object that was closed, for the tests of its class. */
    public UseAfterClose closed(NativeObject object) {
        assertThat(object.isOpen()).describedAs("%s is open", object).isFalse();
        objects.put(object.getClass(), object);
        return this;
    }

    /** What is passed for parameters of a type; numbers, durations and arrays need none. */
    public <T> UseAfterClose argument(Class<T> type, T value) {
        arguments.put(type, value);
        return this;
    }

    /** The tests. */
    public Stream<DynamicTest> tests() {
        return types.stream().flatMap(this::tests);
    }

    private Stream<DynamicTest> tests(Class<?> type) {
        NativeObject object = objects.get(type);
        if (object == null) {
            return Stream.of(DynamicTest.dynamicTest(type.getSimpleName(),
                    () -> fail("the test of use after close was given no closed object of " + type)));
        }
        return Arrays.stream(type.getMethods())
                .filter(m -> m.getDeclaringClass() != Object.class && !Modifier.isStatic(m.getModifiers()))
                .filter(m -> !m.isBridge() && !ALLOWED.contains(m.getName()))
                .map(m -> DynamicTest.dynamicTest(name(type, m), () -> assertRefused(object, m)));
    }

    private void assertRefused(NativeObject object, Method method) throws ReflectiveOperationException {
        Object[] values = Arrays.stream(method.getParameterTypes()).map(type -> argument(type, method)).toArray();
        try {
            method.invoke(object, values);
        } catch (InvocationTargetException e) {
            assertThat(e.getCause()).isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
            return;
        }
        fail("was allowed after close()");
    }

    private Object argument(Class<?> type, Method method) {
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 0);
        }
        if (type.isEnum() && !arguments.containsKey(type)) {
            return type.getEnumConstants()[0];
        }
        assertThat(arguments).describedAs("the test of use after close has no argument for %s", method)
                .containsKey(type);
        return arguments.get(type);
    }

    private static String name(Class<?> type, Method method) {
        return Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName)
                .collect(Collectors.joining(", ", type.getSimpleName() + "." + method.getName() + "(", ")"));
    }
}
