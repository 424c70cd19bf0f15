// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The C side of the benchmarks, which is compiled by the build and packaged with them. */
final class NativeFiles {
    private static final String FOLDER = "/native/";

    private NativeFiles() {
    }

    /** Returns why a file is missing; null if it is there. */
    static String missing(String name) {
        try (InputStream reason = NativeFiles.class.getResourceAsStream(FOLDER + "missing.txt")) {
            if (reason != null) {
                return new String(reason.readAllBytes(), StandardCharsets.UTF_8).strip();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return NativeFiles.class.getResource(FOLDER + name) == null
                ? "the C side of the benchmarks was not built: build with Maven, where gcc is" : null;
    }

    /**
     * Unpacks files into a new folder that is deleted when this JVM exits.
     *
     * @throws IllegalStateException if they were not compiled; the message names what was missing
     */
    static Path unpack(String... names) {
        String missing = missing(names[0]);
        if (missing != null) {
            throw new IllegalStateException("the benchmarks without a device cannot run: " + missing);
        }
        try {
            Path folder = Files.createTempDirectory("rdmacm-bench");
            folder.toFile().deleteOnExit();
            for (String name : names) {
                Path file = folder.resolve(name);
                try (InputStream content = NativeFiles.class.getResourceAsStream(FOLDER + name)) {
                    Files.copy(content, file);
                }
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
                file.toFile().deleteOnExit();
            }
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
