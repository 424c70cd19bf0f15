// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the tests in src/test/interleavings: those of the loop and the acceptor, over classes in plain Java that stand in
 * for final ones of this library, and have their names. So they are compiled apart, and are in front of them here.
 */
class StandInsTest {
    private static final String SUFFIX = "InterleavingTest";

    /** Loads the stand-ins, and with them all classes of this library once more. */
    private static final class StandInLoader extends URLClassLoader {
        StandInLoader(URL[] urls) {
            super(urls, StandInsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded == null) {
                    loaded = name.startsWith("io.rdmacm.") ? findClass(name) : getParent().loadClass(name);
                }
                return loaded;
            }
        }
    }

    @TestFactory
    List<DynamicTest> interleavings(@TempDir Path classes) throws Exception {
        List<String> options = new ArrayList<>(List.of("-proc:none", "-Xlint:all", "-Werror", "-d", classes.toString()));
        List<Path> tests = new ArrayList<>();
        Path sources = Path.of("src", "test", "interleavings");
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(file -> file.toString().endsWith(".java")).map(Path::toString).forEach(options::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new))).isZero();
        try (Stream<Path> files = Files.walk(classes)) {
            files.filter(file -> file.toString().endsWith(SUFFIX + ".class")).sorted().forEach(tests::add);
        }
        StandInLoader loader = new StandInLoader(urls(classes));
        List<DynamicTest> found = new ArrayList<>();
        for (Path test : tests) {
            String name = classes.relativize(test).toString().replace(".class", "").replace('/', '.');
            Class<?> type = loader.loadClass(name);
            for (Method method : type.getDeclaredMethods()) {
                if (method.isAnnotationPresent(Test.class)) {
                    found.add(DynamicTest.dynamicTest(type.getSimpleName() + "." + method.getName(),
                            () -> run(type, method)));
                }
            }
        }
        assertThat(found).isNotEmpty();
        return found;
    }

    private static URL[] urls(Path first) throws IOException {
        List<URL> urls = new ArrayList<>();
        urls.add(first.toUri().toURL());
        for (String part : System.getProperty("java.class.path").split(":")) {
            urls.add(Path.of(part).toUri().toURL());
        }
        return urls.toArray(URL[]::new);
    }

    private static void run(Class<?> type, Method method) throws Throwable {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        method.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
