// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.coverage;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All classes of the jar or folder that a class is in. */
final class ClassFiles {
    private static final String SUFFIX = ".class";

    private ClassFiles() {
    }

    static List<Class<?>> besides(Class<?> member) throws IOException {
        try {
            Path place = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                return search(place, member.getClassLoader());
            }
            try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + place.toUri()), Map.of())) {
                return search(jar.getPath("/"), member.getClassLoader());
            }
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Class<?>> search(Path root, ClassLoader loader) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString().replace('/', '.'))
                    .filter(name -> name.endsWith(SUFFIX) && !name.endsWith("-info" + SUFFIX)).sorted()
                    .<Class<?>>map(name -> load(name.substring(0, name.length() - SUFFIX.length()), loader)).toList();
        }
    }

    private static Class<?> load(String name, ClassLoader loader) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}
