// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The C side of the benchmarks, which is compiled by the build and packaged with them: a library that stands in for
 * libibverbs and needs no device, the loop in C over it, and a JNI library.
 */
public final class NullProvider {
    private static final String FOLDER = "/native/";
    private static final String VERBS = "libnullverbs.so";
    private static final String JNI = "libnulljni.so";
    private static final String LOOP = "nullloop";
    private static final String[] FILES = {VERBS, JNI, LOOP};

    private final Path folder;

    private NullProvider(Path folder) {
        this.folder = folder;
    }

    private static final class Unpacked {
        static final NullProvider INSTANCE = unpack();
    }

    /**
     * Unpacks the files into a folder that is deleted when this JVM exits.
     *
     * @return the unpacked files
     * @throws IllegalStateException if they were not compiled; the message names what was missing
     */
    public static NullProvider unpacked() {
        return Unpacked.INSTANCE;
    }

    /** {@return why the C side is missing; null if it is there} */
    public static String missing() {
        try (InputStream reason = NullProvider.class.getResourceAsStream(FOLDER + "missing.txt")) {
            if (reason != null) {
                return new String(reason.readAllBytes(), StandardCharsets.UTF_8).strip();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return NullProvider.class.getResource(FOLDER + VERBS) == null
                ? "the C side of the benchmarks was not built: build with Maven, where gcc is" : null;
    }

    /** Makes the library use it instead of libibverbs; to be called before the first use of libibverbs. */
    public void standIn() {
        System.setProperty("io.rdmacm.libibverbs", folder.resolve(VERBS).toString());
        // it posts without a system call, as hardware drivers do
        System.setProperty("io.rdmacm.critical.devices", "null0");
    }

    /** {@return the path of the loop in C} */
    public Path loop() {
        return folder.resolve(LOOP);
    }

    /** {@return the path of the JNI library} */
    public Path jni() {
        return folder.resolve(JNI);
    }

    private static NullProvider unpack() {
        String missing = missing();
        if (missing != null) {
            throw new IllegalStateException("the benchmarks without a device cannot run: " + missing);
        }
        try {
            Path folder = Files.createTempDirectory("rdmacm-bench");
            folder.toFile().deleteOnExit();
            for (String name : FILES) {
                Path file = folder.resolve(name);
                try (InputStream content = NullProvider.class.getResourceAsStream(FOLDER + name)) {
                    Files.copy(content, file);
                }
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
                file.toFile().deleteOnExit();
            }
            return new NullProvider(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
