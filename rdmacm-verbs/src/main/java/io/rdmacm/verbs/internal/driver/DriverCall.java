// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.verbs.internal.ffi.Downcalls;

/**
 * A function of a driver that the data path calls: {@code poll_cq}, {@code post_send} and their like. There is one
 * class for each function, made of one template: so its address is a constant to the compiler, and the call is as short
 * as one in C. With an address in a field the linker's checks of it stay, which take longer than the call.
 */
public abstract class DriverCall {
    private static final int ARGUMENTS = 3;
    private static final int MOST_ARGUMENTS = 5;
    private static final Map<Key, DriverCall> CALLS = new ConcurrentHashMap<>();

    private record Key(long address, boolean critical) {
    }

    /**
     * A function. The same one gives the same object.
     *
     * @param address where it is; 0 where the driver lacks it
     * @param critical leaves out the thread's state change: only for a function that makes no system call
     */
    public static DriverCall of(long address, boolean critical) {
        return CALLS.computeIfAbsent(new Key(address, critical && DriverQuirks.CRITICAL_ALLOWED), DriverCall::make);
    }

    /**
     * Calls it. A function of fewer arguments does not look at the others, and where it returns nothing, the result
     * means nothing.
     *
     * @return its result when that has 32 bits; of one with fewer, the bits above it mean nothing
     */
    public abstract int call(long a, long b, long c);

    /**
     * As {@link #call}, of a function that takes more arguments, or returns a pointer or a 64-bit number.
     *
     * @return its result when that has 64 bits; of one with fewer, the bits above it mean nothing
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
            return new IllegalArgumentException("the driver has no such function");
        }
    }
}
