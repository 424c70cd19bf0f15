// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.invoke.MethodHandle;

import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The call of a driver function where no class can be defined at run time, as in a native image: a little slower. */
final class HandleDriverCall extends DriverCall {
    private final MethodHandle function;

    /** A call of a function. */
    HandleDriverCall(MethodHandle function) {
        this.function = function;
    }

    @Override
    public long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(a, b, c, d, e, f);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }
}
