// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The operations in C ({@code src/test/c/kernel/twin}) with which those of the library are compared, and what the card
 * of {@link FakeMlx5} can see of the queues.
 */
@SuppressWarnings("restricted")
public final class Mlx5Twin {
    private static final int TEXT = 1 << 20;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Path FOLDER = Path.of(System.getProperty("io.rdmacm.fakekernel", "target/fakekernel"))
            .toAbsolutePath();

    private Mlx5Twin() {
    }

    /** Lets the card do nothing, or again what it is told: meanwhile the queues stay as they were written. */
    public static void hold(boolean on) {
        invoke("libkernel.so", "kernel_hold", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT), on ? 1 : 0);
    }

    /** Lets the numbers of queues and keys start again; there must be no object. */
    public static void restart() {
        if ((int) invoke("libkernel.so", "kernel_restart", FunctionDescriptor.of(ValueLayout.JAVA_INT)) == 0) {
            throw new IllegalStateException("the kernel has objects");
        }
    }

    /**
     * What the card can see: the queues, their doorbell records and the registers; a line for each 16 bytes that are
     * not zero.
     */
    public static List<String> view() {
        return text((text, size) -> (int) invoke("libkernel.so", "kernel_view", FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG), text, size));
    }

    /** The names of the operations in C. */
    public static List<String> operations() {
        List<String> names = new ArrayList<>();
        while (true) {
            MemorySegment name = (MemorySegment) invoke("libtwin.so", "twin_operation", FunctionDescriptor.of(
                    ValueLayout.ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(
                            Byte.MAX_VALUE, ValueLayout.JAVA_BYTE)), ValueLayout.JAVA_INT), names.size());
            if (name.address() == 0) {
                return names;
            }
            names.add(name.getString(0));
        }
    }

    /** Does an operation in C, with the objects of its own and this memory; returns what the card can see then. */
    public static List<String> run(String operation, MemorySegment memory) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(operation);
            return text((text, size) -> (int) invoke("libtwin.so", "twin_run", FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS, ValueLayout.JAVA_LONG), name, memory, memory.byteSize(), text, size));
        }
    }

    @FunctionalInterface
    private interface Writer {
        int write(MemorySegment text, long size);
    }

    private static List<String> text(Writer writer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT);
            int done = writer.write(text, TEXT);
            if (done == 0) {
                throw new AssertionError("in C: " + text.getString(0));
            }
            return text.getString(0).lines().toList();
        }
    }

    private static Object invoke(String library, String function, FunctionDescriptor type, Object... arguments) {
        MemorySegment address = SymbolLookup.libraryLookup(FOLDER.resolve(library), Arena.global()).find(function)
                .orElseThrow();
        try {
            return LINKER.downcallHandle(address, type).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
