// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.nio.file.Path;

/**
 * The C side of the benchmarks without a driver: a library that stands in for
 * libibverbs and needs no device, the loop in C over it, and a JNI library.
 */
public final class NullProvider {
    private static final String VERBS = "libnullverbs.so";
    private static final String JNI = "libnulljni.so";
    private static final String LOOP = "nullloop";
    private static final String[] FILES = {VERBS, JNI, LOOP};

    private final Path folder;

    private NullProvider(Path folder) {
        this.folder = folder;
    }

    private static final class Unpacked {
        static final NullProvider INSTANCE = new NullProvider(NativeFiles.unpack(FILES));
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
        return NativeFiles.missing(VERBS);
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
}
