// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The template for the classes of {@link DriverCall}s; not used directly. */
final class DriverCallTemplate extends DriverCall {
    private static final MethodHandle FUNCTION = function();

    DriverCallTemplate() {
    }

    private static MethodHandle function() {
        try {
            return MethodHandles.classData(MethodHandles.lookup(), ConstantDescs.DEFAULT_NAME, MethodHandle.class);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) FUNCTION.invokeExact(a, b, c, d, e, f);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }
}
