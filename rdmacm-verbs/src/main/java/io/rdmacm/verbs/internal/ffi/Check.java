// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.verbs.error.RdmaException;

/** The ways in which the C functions report an error, each turned into the exception. */
public final class Check {
    private Check() {
    }

    /** Why the last call of this thread has failed: errno, or EMFILE where C has made something else of it. */
    public static int cause() {
        return FileLimit.cause();
    }

    /** For functions that return -1 and set errno. */
    public static int minusOne(NativeFunction function, int result) throws RdmaException {
        if (result == -1) {
            throw Failures.of(function.name(), cause());
        }
        return result;
    }

    /** For functions that return the error number itself, 0 for success; some return it negated. */
    public static void returned(NativeFunction function, int result) throws RdmaException {
        if (result != 0) {
            // -1 with errno is what old providers do where the error number is due
            throw Failures.of(function.name(), result == -1 ? Errno.last() : Math.abs(result));
        }
    }

    /** Imports an object of another context by the kernel's number of it; returns its address. */
    public static long imported(NativeFunction function, long owner, int kernelHandle) throws RdmaException {
        return pointer(function, function.callLong(owner, Integer.toUnsignedLong(kernelHandle)),
                "handle " + Integer.toUnsignedString(kernelHandle));
    }

    /** For functions that return a null pointer and set errno. */
    public static long pointer(NativeFunction function, long result) throws RdmaException {
        return pointer(function, result, "");
    }

    /** As {@link #pointer(NativeFunction, long)}, with what the function was called for. */
    public static long pointer(NativeFunction function, long result, String detail) throws RdmaException {
        if (result == 0) {
            throw Failures.of(function.name(), cause(), detail);
        }
        return result;
    }
}
