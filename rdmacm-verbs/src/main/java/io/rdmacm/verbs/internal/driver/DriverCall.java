// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.foreign.ValueLayout;
import java.util.List;
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
    private static final int ARGUMENTS = 3;
    private static final int MOST_ARGUMENTS = 5;
    private static final Map<Key, DriverCall> CALLS = new ConcurrentHashMap<>();

    private record Key(long address, boolean critical) {
    }

    /**
     * Returns the call of a function. The same function always has the same object.
     *
     * @param address the address of the function; 0 if the driver does not have it, and then calls throw
     *        IllegalArgumentException
     * @param critical whether to skip the thread state transition: only for a function that makes no system call
     */
    public static DriverCall of(long address, boolean critical) {
        return CALLS.computeIfAbsent(new Key(address, critical && DriverQuirks.CRITICAL_ALLOWED), DriverCall::make);
    }

    /**
     * Calls the function. A function with fewer parameters ignores the remaining arguments.
     *
     * @return the 32-bit result; of a narrower one, the upper bits are undefined, and of void, all of them
     */
    public abstract int call(long a, long b, long c);

    /**
     * Like {@link #call}, for a function that has more parameters, or returns a pointer or a 64-bit number.
     *
     * @return the 64-bit result; of a narrower one, the upper bits are undefined, and of void, all of them
     */
    public abstract long callLong(long a, long b, long c, long d, long e);

    private static DriverCall make(Key key) {
        return key.address == 0 ? new Missing()
                : (DriverCall) Templates.instantiate(DriverCallTemplate.class, List.of(
                        Downcalls.bound(key.address, key.critical, ValueLayout.JAVA_INT, ARGUMENTS),
                        Downcalls.bound(key.address, key.critical, ValueLayout.JAVA_LONG, MOST_ARGUMENTS)));
    }

    private static final class Missing extends DriverCall {
        @Override
        public int call(long a, long b, long c) {
            throw refusal();
        }

        @Override
        public long callLong(long a, long b, long c, long d, long e) {
            throw refusal();
        }

        private static IllegalArgumentException refusal() {
            return new IllegalArgumentException("the driver does not have this function");
        }
    }
}
