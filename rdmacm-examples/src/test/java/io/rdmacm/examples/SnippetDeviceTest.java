// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.Snippets;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/** The programs in README.md and docs/guide compile as they are, and print the output that is given below them. */
@RequiresRdma
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnippetDeviceTest {
    private URLClassLoader classes;

    @BeforeAll
    void compile() throws Exception {
        classes = new URLClassLoader(new URL[] {Snippets.classes(Snippets.all()).toUri().toURL()});
    }

    @AfterAll
    void forget() throws Exception {
        if (classes != null) {
            classes.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> thePrograms() throws Exception {
        return Snippets.all().stream().map(program -> DynamicTest.dynamicTest(program.name(),
                () -> assertThat(run(program.name())).isEqualTo(program.output())));
    }

    private List<String> run(String name) throws Exception {
        if (name.equals("Failures")) {
            RdmaTestDevice.assumeNotIwarp("it neither carries the reason of a reject nor confirms a write");
        }
        Class<?> program = classes.loadClass(name);
        Method main = program.getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        Object instance = null;
        if (!Modifier.isStatic(main.getModifiers())) {
            Constructor<?> constructor = program.getDeclaredConstructor();
            constructor.setAccessible(true);
            instance = constructor.newInstance();
        }
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            main.invoke(instance, (Object) new String[] {RdmaTestDevice.get().ipv4().getHostAddress()});
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RdmaUnsupportedException lack) {
                RdmaTestDevice.assumeNotIwarp(lack.getMessage());
            }
            throw e;
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
