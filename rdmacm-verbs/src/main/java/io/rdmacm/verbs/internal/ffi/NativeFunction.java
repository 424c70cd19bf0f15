// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;

/**
 * A C function of the control path. Calls capture errno for the calling thread, see {@link Errno#last()}.
 * The address of the function is looked up by the first call.
 */
public final class NativeFunction {
    // linked by the first call, and a constant for the JIT compiler
    private static final class Linked {
        static final MethodHandle CALL = Downcalls.capturing();
    }

    private final Symbols symbols;
    private final String name;
    private volatile MemorySegment address;

    private NativeFunction(Symbols symbols, String name, MemorySegment address) {
        this.symbols = symbols;
        this.name = name;
        this.address = address;
    }

    /** Returns a function that librdmacm or libibverbs exports. */
    public static NativeFunction of(String name) {
        return new NativeFunction(Symbols.RDMA, name, null);
    }

    /** Returns a function of the C library. */
    static NativeFunction libc(String name) {
        return new NativeFunction(Symbols.LIBC, name, null);
    }

    /** Returns a function whose pointer was read from a struct. */
    public static NativeFunction at(String name, long address) {
        return new NativeFunction(null, name, Downcalls.function(address));
    }

    /** Returns the name of the function in C. */
    public String name() {
        return name;
    }

    /** Returns whether the installed library has the function. */
    public boolean isAvailable() throws NativeLibraryException {
        return address != null || symbols.findOptional(name).isPresent();
    }

    /** Throws the exception that a call would throw if the installed library does not have the function. */
    public void require() throws NativeLibraryException {
        address();
    }

    /** Calls a function that frees the object at an address, and returns 0 or an error number. */
    public void free(long object) throws RdmaException {
        Check.returned(this, callInt(object));
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt() throws NativeLibraryException {
        return (int) call(0, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a) throws NativeLibraryException {
        return (int) call(a, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a, long b) throws NativeLibraryException {
        return (int) call(a, b, 0, 0, 0, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a, long b, long c) throws NativeLibraryException {
        return (int) call(a, b, c, 0, 0, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a, long b, long c, long d) throws NativeLibraryException {
        return (int) call(a, b, c, d, 0, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a, long b, long c, long d, long e) throws NativeLibraryException {
        return (int) call(a, b, c, d, e, 0);
    }

    /** Calls a function that returns an int, or nothing: then the result is undefined. */
    public int callInt(long a, long b, long c, long d, long e, long f) throws NativeLibraryException {
        return (int) call(a, b, c, d, e, f);
    }

    /**
     * Calls a function that returns an int, and has errno captured into memory of the caller, who keeps it for calls of
     * one thread at a time: {@link Errno#last()} does not learn of it.
     */
    int callInt(MemorySegment captured, long a, long b, long c, long d) throws NativeLibraryException {
        MemorySegment function = address();
        try {
            return (int) (long) Linked.CALL.invokeExact(function, captured, a, b, c, d, 0L, 0L);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong() throws NativeLibraryException {
        return call(0, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a) throws NativeLibraryException {
        return call(a, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a, long b) throws NativeLibraryException {
        return call(a, b, 0, 0, 0, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a, long b, long c) throws NativeLibraryException {
        return call(a, b, c, 0, 0, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a, long b, long c, long d) throws NativeLibraryException {
        return call(a, b, c, d, 0, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a, long b, long c, long d, long e) throws NativeLibraryException {
        return call(a, b, c, d, e, 0);
    }

    /** Calls a function that returns a pointer or a 64-bit number. */
    public long callLong(long a, long b, long c, long d, long e, long f) throws NativeLibraryException {
        return call(a, b, c, d, e, f);
    }

    private long call(long a, long b, long c, long d, long e, long f) throws NativeLibraryException {
        MemorySegment function = address();
        int[] last = Errno.ofThisThread();
        ErrnoPlace place = ErrnoPlace.take();
        try {
            return (long) Linked.CALL.invokeExact(function, place.memory(), a, b, c, d, e, f);
        } catch (Throwable t) {
            throw unexpected(t);
        } finally {
            last[0] = place.giveBack();
        }
    }

    @Override
    public String toString() {
        return name;
    }

    /** Returns the address of the function; throws if the library does not have it. */
    private MemorySegment address() throws NativeLibraryException {
        MemorySegment function = address;
        if (function == null) {
            function = symbols.find(name);
            address = function;
        }
        return function;
    }

    /** Converts a throwable of a downcall. C functions throw nothing, so it comes from the JVM. */
    public static RuntimeException unexpected(Throwable e) {
        if (e instanceof RuntimeException runtime) {
            return runtime;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
