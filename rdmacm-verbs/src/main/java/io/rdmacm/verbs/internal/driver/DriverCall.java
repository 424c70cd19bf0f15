// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

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
    /** How many arguments are passed to functions that have no more of them. */
    public static final int FEW = 4;
    /** How many arguments are passed to the others. */
    public static final int MOST = 6;

    // Set by GraalVM in the programs that native-image makes.
    private static final boolean NATIVE_IMAGE = System.getProperty("org.graalvm.nativeimage.imagecode") != null;
    private static final Map<Key, DriverCall> CALLS = new ConcurrentHashMap<>();

    private record Key(long address, boolean critical, int arguments) {
    }

    /**
     * Returns the call of a function of at most four arguments. The same function always has the same object.
     *
     * @param address the address of the function; 0 if the driver does not have it, and then calls throw
     *        IllegalArgumentException
     * @param critical whether to skip the thread state transition: only for a function that makes no system call
     */
    public static DriverCall of(long address, boolean critical) {
        return of(address, critical, FEW);
    }

    /** Returns the critical call of a function of five or six arguments. */
    static DriverCall ofMany(long address) {
        return of(address, true, MOST);
    }

    private static DriverCall of(long address, boolean critical, int arguments) {
        return CALLS.computeIfAbsent(new Key(address, critical && DriverQuirks.CRITICAL_ALLOWED, arguments),
                DriverCall::make);
    }

    /**
     * Calls the function. Arguments that it does not have are not looked at, or not even passed.
     *
     * @return the 64-bit result; of a narrower one, the upper bits are undefined, and of void, all of them
     */
    public abstract long call(long a, long b, long c, long d, long e, long f);

    private static DriverCall make(Key key) {
        if (key.address == 0) {
            return new Missing();
        }
        if (NATIVE_IMAGE) {
            return new HandleDriverCall(key.address, Downcalls.plain(key.critical, key.arguments));
        }
        return (DriverCall) Templates.instantiate(DriverCallTemplate.class,
                Downcalls.plain(key.critical, key.arguments).bindTo(Downcalls.function(key.address)));
    }

    private static final class Missing extends DriverCall {
        @Override
        public long call(long a, long b, long c, long d, long e, long f) {
            throw new IllegalArgumentException("the driver does not have this function");
        }
    }
}
