// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.classfile.CodeBuilder;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

class BeginningsTest {
    private static final Consumer<CodeBuilder> NOTHING = _ -> { };

    private final List<ClassFileTransformer> transformers = new ArrayList<>();
    private final List<byte[]> changed = new ArrayList<>();

    /** Returns a JVM that finds all classes to be like one. */
    private Instrumentation jvm(Class<?> like) {
        return (Instrumentation) Proxy.newProxyInstance(BeginningsTest.class.getClassLoader(),
                new Class<?>[] {Instrumentation.class}, (_, method, arguments) -> switch (method.getName()) {
                    case "addTransformer" -> {
                        transformers.add((ClassFileTransformer) arguments[0]);
                        yield null;
                    }
                    case "removeTransformer" -> transformers.remove(arguments[0]);
                    case "retransformClasses" -> {
                        for (Class<?> type : (Class<?>[]) arguments[0]) {
                            changed.add(transformers.getFirst()
                                    .transform(null, null, type.getName(), type, null, bytes(like)));
                        }
                        yield null;
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static byte[] bytes(Class<?> type) throws Exception {
        String name = type.getName();
        try (InputStream in = type.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            return in.readAllBytes();
        }
    }

    /** A class with two methods to change. */
    private abstract static class Two {
        abstract void one();

        void two() {
            one();
        }

        void three() {
            one();
        }
    }

    @Test
    void severalMethodsOfAClassAreChanged() throws Exception {
        List<String> begun = new ArrayList<>();
        Beginnings.install(jvm(Two.class), Map.of(Two.class,
                Map.of("two", _ -> begun.add("two"), "three", _ -> begun.add("three"))));
        assertThat(begun).contains("two", "three");
        assertThat(changed).doesNotContainNull();
        assertThat(transformers).isEmpty();
    }

    @Test
    void aChangeThatMatchesNoMethodIsAFailure() throws Exception {
        for (String missing : new String[] {"four", "one"}) {
            assertThatThrownBy(() -> Beginnings.install(jvm(Two.class),
                    Map.of(Two.class, Map.of("two", NOTHING, missing, NOTHING))))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("no method " + missing)
                    .hasMessageContaining(Two.class.getName());
        }
        assertThat(changed).containsOnlyNulls();
        assertThat(transformers).isEmpty();
    }

    @Test
    void whatAChangeThrowsIsAFailure() {
        assertThatThrownBy(() -> Beginnings.install(jvm(Two.class), Map.of(Two.class, Map.of("two", _ -> {
            throw new IllegalArgumentException("cannot be written");
        })))).isInstanceOf(IllegalStateException.class).hasMessageContaining("cannot be written");
    }

    @Test
    void aProgramWithFileChannelsThatCannotBeChangedIsToldSo() {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, UTF_8));
        try {
            FileTransfers.install(jvm(Two.class));
        } finally {
            System.setErr(before);
        }
        assertThat(written.toString(UTF_8)).startsWith("rdmacm-sockets: WARN leaves file channels alone: ")
                .contains("transferToTrustedChannel");
    }
}
