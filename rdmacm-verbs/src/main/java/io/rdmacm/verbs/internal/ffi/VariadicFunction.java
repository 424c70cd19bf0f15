// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.invoke.MethodHandle;

import io.rdmacm.verbs.error.NativeLibraryException;

/**
 * A variadic function of the C library, which is called as such: an ABI may pass the arguments behind the dots in its
 * own way. C ignores arguments that it does not expect, so all calls pass the same number.
 */
final class VariadicFunction {
    /** How many arguments each call passes. */
    static final int ARGUMENTS = 4;

    private final NativeFunction function;
    private final int fixed;
    private volatile MethodHandle handle;

    private VariadicFunction(NativeFunction function, int fixed) {
        this.function = function;
        this.fixed = fixed;
    }

    /** Returns a function with a number of arguments before the dots. */
    static VariadicFunction libc(String name, int fixed) {
        return new VariadicFunction(NativeFunction.libc(name), fixed);
    }

    /** Returns the function, for messages. */
    NativeFunction function() {
        return function;
    }

    /** Calls the function; what it does not expect must be 0. */
    int callInt(long a, long b, long c, long d) throws NativeLibraryException {
        MethodHandle linked = handle;
        if (linked == null) {
            linked = Downcalls.variadicReturningInt(fixed, ARGUMENTS);
            handle = linked;
        }
        try {
            return (int) linked.invokeExact(function.address(), Errno.capture(), a, b, c, d);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }
}
