// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Requirements;

/**
 * A JVM of a user without privileges, but that of reading its class path, which may be readable by root only. Folders
 * are packed into jars, which the JVM opens at its start, so that loading a class later needs no file descriptor.
 */
public final class OrdinaryUser implements AutoCloseable {
    private static final String NOBODY = "65534";
    private static final String READS_ALL = "-all,+dac_read_search";

    private final Path folder;
    private final String classPath;

    /** Packs the folders of the class path of this JVM. */
    public OrdinaryUser() throws IOException {
        folder = Files.createTempDirectory("ordinary-user");
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":")) {
            if (Files.isDirectory(Path.of(entry))) {
                Path jar = folder.resolve(entries.size() + ".jar");
                pack(Path.of(entry), jar);
                entries.add(jar.toString());
            } else {
                entries.add(entry);
            }
        }
        classPath = String.join(":", entries);
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream output = new JarOutputStream(file);
                Stream<Path> all = Files.walk(classes)) {
            output.setLevel(Deflater.NO_COMPRESSION);
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
                ? jvm.by("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps", READS_ALL,
                        "--ambient-caps", READS_ALL, "--")
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
