// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The classes that lie beside a class, in the same jar or folder, sorted by name. None of them is initialised. */
public final class ModuleClasses {
    private static final String SUFFIX = ".class";

    private ModuleClasses() {
    }

    /** All classes. */
    public static List<Class<?>> all(Class<?> member) throws IOException {
        return in(member, root -> search(root, member.getClassLoader()));
    }

    /** Those in the package of the class. */
    public static List<Class<?>> inPackageOf(Class<?> member) throws IOException {
        return all(member).stream().filter(type -> type.getPackageName().equals(member.getPackageName())).toList();
    }

    /** Those in the package of the class of which there can be objects that are of another class, too. */
    public static List<Class<?>> madeInPackageOf(Class<?> member, Class<?> parent) throws IOException {
        return inPackageOf(member).stream().filter(type -> isMade(type, parent)).toList();
    }

    /** Those of which there can be objects that are of another class, too. */
    public static List<Class<?>> made(Class<?> member, Class<?> parent) throws IOException {
        return all(member).stream().filter(type -> isMade(type, parent)).toList();
    }

    private static boolean isMade(Class<?> type, Class<?> parent) {
        return parent.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers());
    }

    /** Those in the packages that the module exports to everybody. */
    public static List<Class<?>> exported(Class<?> member) throws IOException {
        Set<String> exported = in(member, ModuleClasses::exports);
        return all(member).stream().filter(type -> exported.contains(type.getPackageName())).toList();
    }

    @FunctionalInterface
    private interface Look<T> {
        T at(Path root) throws IOException;
    }

    private static <T> T in(Class<?> member, Look<T> look) throws IOException {
        try {
            Path place = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                return look.at(place);
            }
            try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + place.toUri()), Map.of())) {
                return look.at(jar.getPath("/"));
            }
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Set<String> exports(Path root) throws IOException {
        try (InputStream descriptor = Files.newInputStream(root.resolve("module-info.class"))) {
            return ModuleDescriptor.read(descriptor).exports().stream().filter(export -> !export.isQualified())
                    .map(ModuleDescriptor.Exports::source).collect(Collectors.toSet());
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
