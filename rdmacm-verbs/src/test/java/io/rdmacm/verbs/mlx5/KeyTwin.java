// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** The functions of {@code configure.c} in this process: what a program in C does with the same objects. */
@SuppressWarnings("restricted")
final class KeyTwin {
    private static final Path SOURCE = Path.of("src/test/c/mlx5/configure.c");

    private final SymbolLookup library;
    private final Arena arena;

    /** Compiles the functions; skips the test where that is not possible. */
    KeyTwin(Path directory, Arena arena) throws Exception {
        Path file = directory.resolve("libconfigure.so");
        Process compiler = new ProcessBuilder("gcc", "-shared", "-fPIC", "-std=gnu11", "-Wall", "-o", file.toString(),
                SOURCE.toString(), "-l:libmlx5.so.1", "-l:libibverbs.so.1").redirectErrorStream(true).start();
        String errors = new String(compiler.getInputStream().readAllBytes());
        assumeTrue(compiler.waitFor() == 0, "gcc cannot compile " + SOURCE + ": " + errors);
        this.library = SymbolLookup.libraryLookup(file, arena);
        this.arena = arena;
    }

    /** Calls a function with integers and pointers; it returns 0. */
    void call(String function, Object... arguments) throws Throwable {
        FunctionDescriptor type = FunctionDescriptor.of(ValueLayout.JAVA_INT);
        for (Object argument : arguments) {
            type = type.appendArgumentLayouts(argument instanceof Integer ? ValueLayout.JAVA_INT : ValueLayout.ADDRESS);
        }
        assertThat((int) Linker.nativeLinker().downcallHandle(library.find(function).orElseThrow(), type)
                .invokeWithArguments(arguments)).as(function).isZero();
    }

    /** A {@code struct ibv_sge}. */
    MemorySegment part(long address, int bytes, int key) {
        MemorySegment struct = arena.allocate(16, 8);
        struct.set(ValueLayout.JAVA_LONG, 0, address);
        struct.set(ValueLayout.JAVA_INT, 8, bytes);
        struct.set(ValueLayout.JAVA_INT, 12, key);
        return struct;
    }

    /** A {@code struct domain}: its type, the size of its blocks, and its values; null if there are none. */
    MemorySegment domain(long... numbers) {
        if (numbers.length == 0) {
            return MemorySegment.NULL;
        }
        MemorySegment struct = arena.allocate(48, 8);
        struct.set(ValueLayout.JAVA_INT, 0, (int) numbers[0]);
        struct.set(ValueLayout.JAVA_INT, 4, (int) numbers[1]);
        for (int i = 2; i < numbers.length; i++) {
            struct.setAtIndex(ValueLayout.JAVA_LONG, i - 1, numbers[i]);
        }
        return struct;
    }

    MemorySegment bytes(byte[] bytes) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }
}
