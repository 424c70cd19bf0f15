// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The stand-in for the kernel and an EFA card ({@code src/test/c/efa}), which is preloaded into the JVM of the tests
 * that need it: the functions by which they steer it, and those in C that they compare with.
 */
@SuppressWarnings("restricted")
public final class FakeEfa {
    /** The system property with the folder that the stand-in was built into. */
    public static final String PROPERTY = "io.rdmacm.fakeefa";
    /** The size of the longest send entry. */
    public static final int ENTRY = 128;

    private static final Linker LINKER = Linker.nativeLinker();

    private FakeEfa() {
    }

    /** The folder of the stand-in. */
    public static Path folder() {
        return Path.of(System.getProperty(PROPERTY, "target/fakeefa")).toAbsolutePath();
    }

    /** Why there is no stand-in in this JVM; null if there is. */
    public static String missing() throws IOException {
        Path reason = folder().resolve("missing.txt");
        if (Files.exists(reason)) {
            return Files.readString(reason).strip();
        }
        String preloaded = System.getenv().getOrDefault("LD_PRELOAD", "");
        return preloaded.contains("libfakeefa.so") ? null : "the stand-in for EFA is not preloaded";
    }

    /** Refuses the next request to a kind of objects, with an errno. */
    public static void refuse(int object, int error) {
        call("fake_efa_refuse", object, error);
    }

    /** Lets the next sends complete with a status of the device. */
    public static void fail(int status, int count) {
        call("fake_efa_fail", status, count);
    }

    /** How many objects the kernel has. */
    public static int objects() {
        return (int) call("fake_efa_objects");
    }

    /** How many entries the card found malformed. */
    public static long badEntries() {
        return (long) call("fake_efa_bad_entries");
    }

    /** The send entry that the card took last, or so many before it. */
    public static byte[] taken(int before) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(ENTRY);
            call("fake_efa_taken", before, entry);
            return entry.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Posts a request by a function in C; returns what that returns. */
    public static int twin(String function, MemorySegment request) {
        return (int) invoke("libefatwin.so", function, ValueLayout.JAVA_INT, request);
    }

    private static Object call(String function, Object... arguments) {
        boolean counts = function.equals("fake_efa_bad_entries") || function.equals("fake_efa_taken");
        return invoke("libfakeefa.so", function, counts ? ValueLayout.JAVA_LONG : ValueLayout.JAVA_INT, arguments);
    }

    private static Object invoke(String library, String function, ValueLayout result, Object... arguments) {
        MemorySegment address = SymbolLookup.libraryLookup(folder().resolve(library), Arena.global())
                .find(function).orElseThrow();
        FunctionDescriptor type = FunctionDescriptor.of(result);
        for (Object argument : arguments) {
            type = type.appendArgumentLayouts(argument instanceof Integer ? ValueLayout.JAVA_INT
                    : ValueLayout.ADDRESS);
        }
        MethodHandle handle = LINKER.downcallHandle(address, type);
        try {
            return handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
