// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;

/** The accessors of a class that could be a record. */
public final class Accessors {
    private static final Set<String> OTHERS = Set.of("toBuilder", "toString", "hashCode");

    private Accessors() {
    }

    /** Checks that the text of an object says what each of its accessors returns, as that of a record does. */
    public static void assertNamed(Object object) {
        String[] names = Arrays.stream(object.getClass().getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
                        && method.getParameterCount() == 0)
                .map(Method::getName).filter(name -> !OTHERS.contains(name)).map(name -> name + "=")
                .toArray(String[]::new);
        assertThat(names).isNotEmpty();
        assertThat(object).asString().startsWith(object.getClass().getSimpleName() + "[").contains(names);
    }
}
