// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * The one place that creates downcall handles. On the ABIs of 64-bit Linux, pointers, sizes and ints are all passed in
 * one integer register each, the callee reads as many registers and bits as it needs, and the arguments of a variadic
 * function are passed like others. So handles with as many arguments as there are such registers on both serve all
 * functions, and are linked only once: linking is what makes a first call slow. The handles are unbound: the address of
 * the function is their first argument.
 */
public final class Downcalls {
    /** How many arguments a call passes at most; a function that has fewer does not look at the others. */
    static final int ARGUMENTS = 6;

    /** The memory into which a handle captures errno. */
    static final StructLayout CAPTURED = Linker.Option.captureStateLayout();
    static final long ERRNO_OFFSET = CAPTURED.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private static final Set<String> ARCHITECTURES = Set.of("amd64", "aarch64");

    private Downcalls() {
    }

    /**
     * Returns the handle {@code (MemorySegment function, MemorySegment captured, long...) -> long} that captures errno.
     * The upper bits of the result are undefined if the function returns fewer. Where native code is refused, its
     * calls say so.
     */
    static MethodHandle capturing() {
        try {
            return link(ARGUMENTS, Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(1));
        } catch (RuntimeException e) {
            // for each call, instead of the initialiser of the class that keeps the handle
            List<Class<?>> parameters = new ArrayList<>(Collections.nCopies(ARGUMENTS, long.class));
            parameters.addAll(0, List.of(MemorySegment.class, MemorySegment.class));
            return MethodHandles.dropArguments(
                    MethodHandles.throwException(long.class, RuntimeException.class).bindTo(e), 0, parameters);
        }
    }

    /**
     * Returns a handle {@code (MemorySegment function, long...) -> long} that does not capture errno, for functions of
     * the data path, which return their error number. What is passed and not looked at costs a nanosecond here.
     *
     * @param critical whether to skip the thread state transition: only for functions that neither block nor take long
     * @param arguments how many arguments are passed; those that follow are dropped
     */
    public static MethodHandle plain(boolean critical, int arguments) {
        MethodHandle handle = critical ? link(arguments, Linker.Option.critical(false)) : link(arguments);
        return MethodHandles.dropArguments(handle, 1 + arguments,
                Collections.nCopies(ARGUMENTS - arguments, long.class));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link(int arguments, Linker.Option... options) {
        String architecture = System.getProperty("os.arch");
        if (!ARCHITECTURES.contains(architecture)) {
            throw new UnsupportedOperationException("rdmacm runs on x86-64 and aarch64, not on " + architecture
                    + ": another architecture may pass the arguments of C functions differently");
        }
        try {
            return Linker.nativeLinker().downcallHandle(type(arguments), options);
        } catch (IllegalCallerException e) {
            throw NativeAccess.denied(e);
        }
    }

    static FunctionDescriptor type(int arguments) {
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG,
                Collections.nCopies(arguments, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /** Converts an address to the first argument of a handle. */
    public static MemorySegment function(long address) {
        return MemorySegment.ofAddress(address);
    }
}
