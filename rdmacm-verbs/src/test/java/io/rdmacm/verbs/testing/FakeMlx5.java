// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What stands in for the kernel and a card {@code mlx5_0} ({@code src/test/c/kernel}): preloaded into the JVM, so that
 * the real libmlx5 runs without a device.
 */
@SuppressWarnings("restricted")
public final class FakeMlx5 {
    private static final Path FOLDER = Path.of(System.getProperty("io.rdmacm.fakekernel", "target/fakekernel"))
            .toAbsolutePath();

    private FakeMlx5() {
    }

    /** Why there is no stand-in in this JVM; null if there is. */
    public static String missing() throws IOException {
        Path reason = FOLDER.resolve("missing.txt");
        if (Files.exists(reason)) {
            return Files.readString(reason).strip();
        }
        return System.getenv().getOrDefault("LD_PRELOAD", "").contains("libkernel.so") ? null
                : "the stand-in for the kernel is not preloaded";
    }

    /** How many objects the kernel has. */
    public static int objects() {
        return call("kernel_objects");
    }

    /** Refuses the next request of that kind, with an errno. */
    public static void refuse(int object, int method, int error) {
        call("kernel_refuse", object, method, 0, error);
    }

    private static int call(String function, Object... arguments) {
        FunctionDescriptor type = FunctionDescriptor.of(ValueLayout.JAVA_INT);
        for (int i = 0; i < arguments.length; i++) {
            type = type.appendArgumentLayouts(ValueLayout.JAVA_INT);
        }
        MethodHandle handle = Linker.nativeLinker().downcallHandle(
                SymbolLookup.libraryLookup(FOLDER.resolve("libkernel.so"), Arena.global()).find(function).orElseThrow(),
                type);
        try {
            return (int) handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
