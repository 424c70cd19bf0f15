// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The template for the classes of {@link DriverCall}s; not used directly. Only one of its handles is not null. */
final class DriverCallTemplate extends DriverCall {
    private static final MethodHandle ONE = function(1);
    private static final MethodHandle TWO = function(2);
    private static final MethodHandle THREE = function(3);
    private static final MethodHandle FOUR = function(4);
    private static final MethodHandle FIVE = function(5);
    private static final MethodHandle SIX = function(6);

    DriverCallTemplate() {
    }

    private static MethodHandle function(int arguments) {
        try {
            return MethodHandles.classDataAt(MethodHandles.lookup(), ConstantDescs.DEFAULT_NAME, MethodHandle.class,
                    arguments);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long call(long a) {
        try {
            return (long) ONE.invokeExact(a);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }

    @Override
    public long call(long a, long b) {
        try {
            return (long) TWO.invokeExact(a, b);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }

    @Override
    public long call(long a, long b, long c) {
        try {
            return (long) THREE.invokeExact(a, b, c);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }

    @Override
    public long call(long a, long b, long c, long d) {
        try {
            return (long) FOUR.invokeExact(a, b, c, d);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }

    @Override
    public long call(long a, long b, long c, long d, long e) {
        try {
            return (long) FIVE.invokeExact(a, b, c, d, e);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }

    @Override
    public long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) SIX.invokeExact(a, b, c, d, e, f);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }
}
