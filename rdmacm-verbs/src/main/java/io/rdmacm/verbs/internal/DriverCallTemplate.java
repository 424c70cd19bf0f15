// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/** What {@link DriverCall}s are made of; not to be used as it is. */
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
    public int call(long a, long b, long c) {
        try {
            return (int) FUNCTION.invokeExact(a, b, c);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }
}
