// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.verbs.error.RdmaException;

/** Checks the results of C functions: one method for each way in which they report errors. */
public final class Check {
    private Check() {
    }

    /** Returns why this thread's last call failed: errno, or EMFILE if that is the cause behind a vague errno. */
    public static int cause() {
        return FileLimit.cause();
    }

    /** Checks the result of a function that returns -1 and sets errno on failure. */
    public static int minusOne(NativeFunction function, int result) throws RdmaException {
        if (result == -1) {
            throw Failures.of(function.name(), cause());
        }
        return result;
    }

    /** Checks the result of a function that returns 0 on success, and otherwise the error number, possibly negated. */
    public static void returned(NativeFunction function, int result) throws RdmaException {
        returned(function, "", result);
    }

    /** Like {@link #returned(NativeFunction, int)}, with what the function was called for. */
    public static void returned(NativeFunction function, Object detail, int result) throws RdmaException {
        if (result != 0) {
            // Old providers return -1 and set errno, although they should return the error number.
            throw Failures.of(function.name(), result == -1 ? Errno.last() : Math.abs(result), detail.toString());
        }
    }

    /**
     * Imports an object by the kernel's handle for it.
     *
     * @param function the C function
     * @param owner the address of the context or protection domain that the object belongs to
     * @param kernelHandle the handle of the kernel, unsigned
     * @return the address of the object
     */
    public static long imported(NativeFunction function, long owner, int kernelHandle) throws RdmaException {
        return pointer(function, "handle " + Integer.toUnsignedString(kernelHandle),
                function.callLong(owner, Integer.toUnsignedLong(kernelHandle)));
    }

    /** Checks the result of a function that returns a null pointer and sets errno on failure. */
    public static long pointer(NativeFunction function, long result) throws RdmaException {
        return pointer(function, "", result);
    }

    /**
     * Like {@link #pointer(NativeFunction, long)}, with a detail for the message. It comes before the call, because
     * nothing may fail after it.
     */
    public static long pointer(NativeFunction function, String detail, long result) throws RdmaException {
        if (result == 0) {
            throw Failures.of(function.name(), cause(), detail);
        }
        return result;
    }
}
