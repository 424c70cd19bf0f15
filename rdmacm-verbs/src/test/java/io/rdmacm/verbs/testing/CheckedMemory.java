// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The class through which the library reads and writes native memory, made so that each access asks AddressSanitizer
 * first: what is freed, or beyond what was allocated, ends the JVM. For {@code scripts/lib/sanitize}, in a JVM where
 * the sanitizer is preloaded.
 */
public final class CheckedMemory {
    private static final String TYPE = "io/rdmacm/verbs/internal/ffi/Memory.class";
    private static final String ACCESSES = "(get|put)(Byte|Short|Int|Long)|copy|bytes";
    private static final MethodTypeDesc CHECK = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_long,
            ConstantDescs.CD_long);
    private static final int POISONED = 66;

    private CheckedMemory() {
    }

    @SuppressWarnings("restricted")
    private static final class Sanitizer {
        static final MethodHandle IS_POISONED = Linker.nativeLinker().downcallHandle(
                SymbolLookup.libraryLookup(System.getenv("LD_PRELOAD"), Arena.global())
                        .findOrThrow("__asan_region_is_poisoned"),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                Linker.Option.critical(false));
    }

    /** Ends the JVM when memory is not to be touched. Called before each access. */
    public static void check(long address, long bytes) throws Throwable {
        long bad = bytes == 0 ? 0 : (long) Sanitizer.IS_POISONED.invokeExact(address, bytes);
        if (bad != 0) {
            new AssertionError("Java touches " + bytes + " bytes at 0x" + Long.toHexString(address) + ", and 0x"
                    + Long.toHexString(bad) + " is not its own").printStackTrace();
            Runtime.getRuntime().halt(POISONED);
        }
    }

    /** Writes the class into a folder, which is to come first on a class path. */
    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[0], TYPE);
        Files.createDirectories(file.getParent());
        try (InputStream original = CheckedMemory.class.getResourceAsStream("/" + TYPE)) {
            ClassFile format = ClassFile.of();
            ClassTransform transform = (builder, element) -> {
                if (element instanceof MethodModel method && method.methodName().stringValue().matches(ACCESSES)) {
                    builder.transformMethod(method, MethodTransform.transformingCode(checking(
                            method.methodName().stringValue(), method.methodTypeSymbol().parameterCount())));
                } else {
                    builder.with(element);
                }
            };
            Files.write(file, format.transformClass(format.parse(original.readAllBytes()), transform));
        }
    }

    private static CodeTransform checking(String method, int parameters) {
        return CodeTransform.ofStateful(() -> {
            boolean[] begun = new boolean[1];
            return (builder, element) -> {
                if (!begun[0]) {
                    begun[0] = true;
                    check(method, parameters, builder);
                }
                builder.with(element);
            };
        });
    }

    private static void check(String method, int parameters, CodeBuilder builder) {
        ClassDesc type = ClassDesc.of(CheckedMemory.class.getName());
        switch (method) {
            case "copy" -> builder.lload(0).lload(4).invokestatic(type, "check", CHECK)
                    .lload(2).lload(4).invokestatic(type, "check", CHECK);
            case "bytes" -> builder.lload(0).iload(2).i2l().invokestatic(type, "check", CHECK);
            default -> {
                builder.lload(0);
                if (parameters > (method.startsWith("get") ? 1 : 2)) {
                    // the offset in a struct
                    builder.lload(2).ladd();
                }
                builder.loadConstant(size(method)).invokestatic(type, "check", CHECK);
            }
        }
    }

    private static long size(String method) {
        return switch (method.substring(3)) {
            case "Byte" -> Byte.BYTES;
            case "Short" -> Short.BYTES;
            case "Int" -> Integer.BYTES;
            default -> Long.BYTES;
        };
    }
}
