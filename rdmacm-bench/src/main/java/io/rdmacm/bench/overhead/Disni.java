// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToLongFunction;

import io.rdmacm.bench.thirdparty.NamedFiles;
import io.rdmacm.bench.thirdparty.SourceLoader;

/** DiSNI, a JNI library for the same verbs, if the environment names its jar and its native library. */
final class Disni {
    /** The variable with the path of the jar. */
    static final String JAR = "RDMACM_BENCH_DISNI_JAR";
    /** The variable with the path of the native library. */
    static final String LIBRARY = "RDMACM_BENCH_DISNI_LIB";
    /** What a JVM needs to run it: DiSNI asks a class of the JDK for the address of a buffer. */
    static final String EXPORTS = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";
    /** Otherwise it logs the sizes of structs. */
    static final String QUIET = "-Dorg.slf4j.simpleLogger.log.com.ibm.disni=warn";

    /** Loads the native library when it is initialized. */
    private static final String NATIVE = "com.ibm.disni.verbs.impl.NativeDispatcher";

    private final Constructor<?> loop;

    private Disni(Constructor<?> loop) {
        this.loop = loop;
    }

    /**
     * {@return DiSNI, loaded; empty if the environment does not name it}
     *
     * @param environment the variables
     * @throws IllegalArgumentException if the files are not there, or not those of DiSNI, or cannot be used here
     */
    static Optional<Disni> named(Map<String, String> environment) {
        return NamedFiles.of(environment, List.of(JAR, LIBRARY))
                .map(files -> new Disni(load(files.get(JAR), files.get(LIBRARY))));
    }

    private static Constructor<?> load(Path jar, Path library) {
        SourceLoader loader = new SourceLoader(jar, Map.of("disni", library));
        Class<?> type = loader.compile(Disni.class, "DisniLoop");
        try {
            Class.forName(NATIVE, true, loader);
            return type.getConstructor(VerbsStack.class, int.class, Payload.class);
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new IllegalArgumentException(LIBRARY + ": " + library + " cannot be loaded: " + e, e);
        }
    }

    /**
     * {@return a loop that takes the number of operations, and returns the sum of what it reads}
     *
     * @param stack the objects to use
     * @param batch the number of requests per post
     * @param payload the payload of each request
     */
    IntToLongFunction loop(VerbsStack stack, int batch, Payload payload) {
        Placement.shiftMemory();
        try {
            return (IntToLongFunction) loop.newInstance(stack, batch, payload);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the loop over DiSNI cannot be created", e);
        }
    }
}
