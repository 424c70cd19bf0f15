// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import io.rdmacm.verbs.internal.ffi.Downcalls;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The call of a driver function where no class can be defined at run time, as in a native image: a little slower. */
final class HandleDriverCall extends DriverCall {
    private final MemorySegment function;
    private final MethodHandle handle;

    HandleDriverCall(long address, MethodHandle handle) {
        this.function = Downcalls.function(address);
        this.handle = handle;
    }

    @Override
    public long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) handle.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw NativeFunction.unexpected(t);
        }
    }
}
