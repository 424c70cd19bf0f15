// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Requirements;

/**
 * A JVM of a user without privileges. Its class path is a copy, because the original may be readable by root only. It
 * consists of jars, which the JVM opens at its start, so that loading a class later needs no file descriptor.
 */
public final class OrdinaryUser implements AutoCloseable {
    private static final String NOBODY = "65534";

    private final Path folder;
    private final String classPath;

    /** Copies the class path of this JVM. */
    public OrdinaryUser() throws IOException {
        folder = Files.createTempDirectory("ordinary-user",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":")) {
            Path copy = folder.resolve(entries.size() + ".jar");
            if (Files.isDirectory(Path.of(entry))) {
                pack(Path.of(entry), copy);
            } else if (Files.isRegularFile(Path.of(entry))) {
                Files.copy(Path.of(entry), copy);
            } else {
                continue;
            }
            Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
            entries.add(copy.toString());
        }
        classPath = String.join(":", entries);
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream output = new JarOutputStream(file);
                Stream<Path> all = Files.walk(classes)) {
            for (Path path : all.filter(Files::isRegularFile).toList()) {
                output.putNextEntry(new JarEntry(classes.relativize(path).toString()));
                Files.copy(path, output);
                output.closeEntry();
            }
        }
    }

    /**
     * The JVM, to be run.
     *
     * @param wrapper the programs that set its limits, as root still
     */
    public ForkedJvm jvm(Class<?> main, String... wrapper) {
        Requirements.requireProgram("setpriv", "util-linux");
        ForkedJvm jvm = ForkedJvm.of(main).nativeAccess().classPath(classPath).by(wrapper);
        return isRoot()
                ? jvm.by("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all", "--")
                : jvm;
    }

    public static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
