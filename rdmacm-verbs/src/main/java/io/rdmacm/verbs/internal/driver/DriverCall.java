// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.invoke.MethodHandle;
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
    // Set by GraalVM in the programs that native-image makes.
    private static final boolean NATIVE_IMAGE = System.getProperty("org.graalvm.nativeimage.imagecode") != null;
    private static final Map<Key, DriverCall> CALLS = new ConcurrentHashMap<>();

    private record Key(long address, boolean critical, boolean many) {
    }

    /**
     * Returns the call of a function of up to four arguments. The same function always has the same object.
     *
     * @param address the address of the function; 0 if the driver does not have it, and then calls throw
     *        IllegalArgumentException
     * @param critical whether to skip the thread state transition: only for a function that makes no system call
     */
    public static DriverCall of(long address, boolean critical) {
        return of(address, critical, false);
    }

    /** Like {@link #of(long, boolean)}, for a function that may have five or six arguments. */
    public static DriverCall ofMany(long address, boolean critical) {
        return of(address, critical, true);
    }

    private static DriverCall of(long address, boolean critical, boolean many) {
        return CALLS.computeIfAbsent(new Key(address, critical && DriverQuirks.CRITICAL_ALLOWED, many),
                DriverCall::make);
    }

    /**
     * Calls a function of up to six arguments, see {@link #ofMany}. It does not look at more than it has.
     *
     * @return the 64-bit result; of a narrower one, the upper bits are undefined, and of void, all of them
     */
    public abstract long call(long a, long b, long c, long d, long e, long f);

    /** Calls a function of one argument. */
    public final long call(long a) {
        return call(a, 0, 0, 0, 0, 0);
    }

    /** Calls a function of two arguments. */
    public final long call(long a, long b) {
        return call(a, b, 0, 0, 0, 0);
    }

    /** Calls a function of three arguments. */
    public final long call(long a, long b, long c) {
        return call(a, b, c, 0, 0, 0);
    }

    /** Calls a function of four arguments. */
    public final long call(long a, long b, long c, long d) {
        return call(a, b, c, d, 0, 0);
    }

    /** Calls a function of five arguments, see {@link #ofMany}. */
    public final long call(long a, long b, long c, long d, long e) {
        return call(a, b, c, d, e, 0);
    }

    private static DriverCall make(Key key) {
        if (key.address == 0) {
            return new Missing();
        }
        MethodHandle handle = Downcalls.plain(key.critical, key.many).bindTo(Downcalls.function(key.address));
        return NATIVE_IMAGE ? new HandleDriverCall(handle)
                : (DriverCall) Templates.instantiate(DriverCallTemplate.class, handle);
    }

    private static final class Missing extends DriverCall {
        @Override
        public long call(long a, long b, long c, long d, long e, long f) {
            throw new IllegalArgumentException("the driver does not have this function");
        }
    }
}
