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
 * The C side of the benchmarks, which was compiled when they were built and comes with them: a provider without a
 * device that stands in for libibverbs, the loop in C over it, and a JNI library.
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
     * Puts the files into a folder that goes with this JVM.
     *
     * @throws IllegalStateException when they could not be compiled: says what was missing
     */
    public static NullProvider unpacked() {
        return Unpacked.INSTANCE;
    }

    /** Why there is none; null when there is one. */
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

    /** Makes this library use it in place of libibverbs; before anything of libibverbs was used. */
    public void standIn() {
        System.setProperty("io.rdmacm.libibverbs", folder.resolve(VERBS).toString());
        // it posts as the drivers of hardware do, without a system call
        System.setProperty("io.rdmacm.critical.devices", "null0");
    }

    /** The loop in C. */
    public Path loop() {
        return folder.resolve(LOOP);
    }

    /** The JNI library. */
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
