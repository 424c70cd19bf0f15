// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.verbs.internal.ffi.Downcalls;

/**
 * A driver function that the data path calls, such as {@code poll_cq} or {@code post_send}. Each function has a hidden
 * class of its own, created from a template, in which the address of the function is a constant for the JIT compiler:
 * the compiled call is as short as one in C. If the address were in a field, the linker would check it on each call,
 * which takes longer than the call itself.
 */
public abstract class DriverCall {
    /** The largest number of arguments that a function may have. */
    public static final int MOST_ARGUMENTS = 6;

    // Set by GraalVM in the programs that native-image makes.
    private static final boolean NATIVE_IMAGE = System.getProperty("org.graalvm.nativeimage.imagecode") != null;
    private static final Map<Key, DriverCall> CALLS = new ConcurrentHashMap<>();

    private record Key(long address, boolean critical, int arguments) {
    }

    /**
     * Returns the call of a function. The same function always has the same object.
     *
     * @param address the address of the function; 0 if the driver does not have it, and then calls throw
     *        IllegalArgumentException
     * @param critical whether to skip the thread state transition: only for a function that makes no system call
     * @param arguments the number of arguments, from 1 to 6; the object can only be called with as many
     */
    public static DriverCall of(long address, boolean critical, int arguments) {
        return CALLS.computeIfAbsent(new Key(address, critical && DriverQuirks.CRITICAL_ALLOWED, arguments),
                DriverCall::make);
    }

    /**
     * Calls a function of one argument.
     *
     * @return the 64-bit result; of a narrower one, the upper bits are undefined, and of void, all of them
     */
    public abstract long call(long a);

    /** Calls a function of two arguments, see {@link #call(long)}. */
    public abstract long call(long a, long b);

    /** Calls a function of three arguments, see {@link #call(long)}. */
    public abstract long call(long a, long b, long c);

    /** Calls a function of four arguments, see {@link #call(long)}. */
    public abstract long call(long a, long b, long c, long d);

    /** Calls a function of five arguments, see {@link #call(long)}. */
    public abstract long call(long a, long b, long c, long d, long e);

    /** Calls a function of six arguments, see {@link #call(long)}. */
    public abstract long call(long a, long b, long c, long d, long e, long f);

    private static DriverCall make(Key key) {
        if (key.address == 0) {
            return new Missing();
        }
        if (NATIVE_IMAGE) {
            return new HandleDriverCall(key.address, key.critical, key.arguments);
        }
        MethodHandle[] handles = new MethodHandle[MOST_ARGUMENTS + 1];
        handles[key.arguments] = Downcalls.plain(key.critical, key.arguments)
                .bindTo(Downcalls.function(key.address));
        return (DriverCall) Templates.instantiate(DriverCallTemplate.class, Arrays.asList(handles));
    }

    private static final class Missing extends DriverCall {
        @Override
        public long call(long a) {
            throw refusal();
        }

        @Override
        public long call(long a, long b) {
            throw refusal();
        }

        @Override
        public long call(long a, long b, long c) {
            throw refusal();
        }

        @Override
        public long call(long a, long b, long c, long d) {
            throw refusal();
        }

        @Override
        public long call(long a, long b, long c, long d, long e) {
            throw refusal();
        }

        @Override
        public long call(long a, long b, long c, long d, long e, long f) {
            throw refusal();
        }

        private static IllegalArgumentException refusal() {
            return new IllegalArgumentException("the driver does not have this function");
        }
    }
}
