// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Set;

/**
 * The one place that creates downcall handles. Every argument is declared as a 64-bit integer: on the ABIs of 64-bit
 * Linux, pointers, sizes and ints are all passed in one integer register each, and the callee reads as many bits as it
 * needs. So a handful of handles serves all functions of both libraries, and each is linked only once, since linking is
 * what makes a first call slow. Variadic functions, which an ABI may call differently, are declared as such. The
 * handles are unbound: the address of the function is their first argument.
 */
public final class Downcalls {
    /** The memory into which a handle captures errno. */
    static final StructLayout CAPTURED = Linker.Option.captureStateLayout();
    static final long ERRNO_OFFSET = CAPTURED.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    /** The largest number of arguments of a function whose errno is captured. */
    static final int MOST_ARGUMENTS = 7;
    private static final MethodHandle[] INT = new MethodHandle[MOST_ARGUMENTS + 1];
    private static final MethodHandle[] LONG = new MethodHandle[MOST_ARGUMENTS + 1];

    private static final Set<String> ARCHITECTURES = Set.of("amd64", "aarch64");

    private Downcalls() {
    }

    private static Linker linker() {
        String architecture = System.getProperty("os.arch");
        if (!ARCHITECTURES.contains(architecture)) {
            throw new UnsupportedOperationException("rdmacm runs on x86-64 and aarch64, not on " + architecture
                    + ": another architecture may pass the arguments of C functions differently");
        }
        return Linker.nativeLinker();
    }

    /**
     * Returns a handle {@code (MemorySegment function, MemorySegment captured, long...) -> int} that captures errno.
     *
     * @param arguments how many arguments the function takes
     */
    static MethodHandle returningInt(int arguments) {
        return cached(INT, ValueLayout.JAVA_INT, arguments);
    }

    /** Like {@link #returningInt}, for a function that returns a pointer or a 64-bit number. */
    static MethodHandle returningLong(int arguments) {
        return cached(LONG, ValueLayout.JAVA_LONG, arguments);
    }

    /**
     * Like {@link #returningInt}, for a variadic function. Links the handle anew each time.
     *
     * @param fixed how many of the arguments are before the dots
     * @param arguments how many arguments are passed
     */
    static MethodHandle variadicReturningInt(int fixed, int arguments) {
        return capturing(ValueLayout.JAVA_INT, arguments, Linker.Option.firstVariadicArg(fixed));
    }

    /**
     * Returns a handle {@code (MemorySegment function, long...) -> result} that does not capture errno, for functions
     * of the data path, which return their error number.
     *
     * @param critical whether to skip the thread state transition: only for functions that neither block nor take long
     * @param result the layout of the result; null for void
     * @param arguments how many arguments the function takes
     */
    @SuppressWarnings("restricted")
    public static MethodHandle plain(boolean critical, MemoryLayout result, int arguments) {
        Linker.Option[] options = critical ? new Linker.Option[] {Linker.Option.critical(false)} : new Linker.Option[0];
        try {
            return linker().downcallHandle(descriptor(result, arguments), options);
        } catch (IllegalCallerException e) {
            throw NativeAccess.denied(e);
        }
    }

    /**
     * Like {@link #plain}, but bound to a function: {@code (long...) -> result}.
     *
     * @param address the address of the function
     * @param critical whether to skip the thread state transition: only for functions that neither block nor take long
     * @param result the layout of the result; null for void
     * @param arguments how many arguments the function takes
     */
    public static MethodHandle bound(long address, boolean critical, MemoryLayout result, int arguments) {
        return plain(critical, result, arguments).bindTo(function(address));
    }

    private static MethodHandle cached(MethodHandle[] handles, MemoryLayout result, int arguments) {
        synchronized (handles) {
            if (handles[arguments] == null) {
                handles[arguments] = capturing(result, arguments);
            }
            return handles[arguments];
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle capturing(MemoryLayout result, int arguments, Linker.Option... more) {
        Linker.Option[] options = Arrays.copyOf(more, more.length + 1);
        options[more.length] = Linker.Option.captureCallState("errno");
        try {
            return linker().downcallHandle(descriptor(result, arguments), options);
        } catch (IllegalCallerException e) {
            throw NativeAccess.denied(e);
        }
    }

    private static FunctionDescriptor descriptor(MemoryLayout result, int arguments) {
        MemoryLayout[] parameters = new MemoryLayout[arguments];
        Arrays.fill(parameters, ValueLayout.JAVA_LONG);
        return result == null ? FunctionDescriptor.ofVoid(parameters) : FunctionDescriptor.of(result, parameters);
    }

    /** Converts an address to the first argument of a handle. */
    public static MemorySegment function(long address) {
        return MemorySegment.ofAddress(address);
    }
}
