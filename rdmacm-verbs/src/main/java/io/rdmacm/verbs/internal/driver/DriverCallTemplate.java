// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The template for the classes of {@link DriverCall}s; not used directly. */
final class DriverCallTemplate extends DriverCall {
    private static final MethodHandle FUNCTION = function(0);
    private static final MethodHandle LONG_FUNCTION = function(1);

    DriverCallTemplate() {
    }

    private static MethodHandle function(int index) {
        try {
            return MethodHandles.classDataAt(MethodHandles.lookup(), ConstantDescs.DEFAULT_NAME, MethodHandle.class,
                    index);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public int call(long a, long b, long c) {
        try {
            return (int) FUNCTION.invokeExact(a, b, c);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    @Override
    public long callLong(long a, long b, long c, long d, long e) {
        try {
            return (long) LONG_FUNCTION.invokeExact(a, b, c, d, e);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }
}
