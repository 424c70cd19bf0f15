// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;

/** Runs a program in a class loader of its own, as servers of applications do, which drop it later. */
public final class OtherClassLoader {
    private OtherClassLoader() {
    }

    /** Runs a program in a thread of its own. Returns when nothing refers to its classes any more, however late. */
    public static void runAndDrop(Class<?> program, String... args) throws Exception {
        WeakReference<ClassLoader> loader;
        try (Background<WeakReference<ClassLoader>> running = Background.call(() -> run(program, args))) {
            loader = running.result();
        }
        Background.run(() -> {
            while (loader.get() != null && !Thread.interrupted()) {
                System.gc();
            }
        }).result();
    }

    private static WeakReference<ClassLoader> run(Class<?> program, String... args) throws Exception {
        URL[] path = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
                .map(OtherClassLoader::url).toArray(URL[]::new);
        // Not closed: a thread of the program may still need a class.
        ClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader());
        loader.loadClass(program.getName()).getMethod("main", String[].class).invoke(null, (Object) args);
        return new WeakReference<>(loader);
    }

    private static URL url(Path entry) {
        try {
            return entry.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
