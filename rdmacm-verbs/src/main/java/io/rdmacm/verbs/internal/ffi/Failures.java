// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;

/** Converts error numbers to exceptions. */
public final class Failures {
    private Failures() {
    }

    /**
     * Returns the exception for a failed C function: {@link RdmaUnsupportedException} if the device or its driver does
     * not support the function (EOPNOTSUPP, ENOSYS, ENOTSUPP), {@link RdmaTimeoutException} for ETIMEDOUT, and
     * otherwise {@link RdmaException}.
     *
     * @param function the name of the C function
     * @param errno its error number; 0 if it has given none
     */
    public static RdmaException of(String function, int errno) {
        return of(function, errno, "");
    }

    /**
     * Like {@link #of(String, int)}, with a detail for the message.
     *
     * @param function the name of the C function
     * @param errno its error number; 0 if it has given none
     * @param detail what the function was called for; may be empty
     */
    public static RdmaException of(String function, int errno, String detail) {
        if (errno == 0) {
            return new RdmaException(function, called(function, detail) + ": it failed without an error number");
        }
        String name = Errno.name(errno);
        String message = message(function, errno, detail);
        if (isUnsupported(errno)) {
            return new RdmaUnsupportedException(function, errno, name, message);
        }
        if (errno == Rdma.ETIMEDOUT()) {
            return new RdmaTimeoutException(function, errno, name, message);
        }
        return new RdmaException(function, errno, name, message);
    }

    /** Returns whether an error number means that the device, its driver or the kernel lacks the function. */
    public static boolean isUnsupported(int errno) {
        return errno == Rdma.EOPNOTSUPP() || errno == Rdma.ENOSYS() || errno == Errno.KERNEL_ENOTSUPP;
    }

    /**
     * Returns the message for a failed C function.
     *
     * @param function the name of the C function
     * @param errno its error number, positive
     * @param detail what the function was called for; may be empty
     */
    public static String message(String function, int errno, String detail) {
        return called(function, detail) + ": " + Errno.name(errno) + ", " + Errno.text(errno)
                + Hints.of(function, errno);
    }

    private static String called(String function, String detail) {
        return function + (detail.isEmpty() ? "" : " (" + detail + ")");
    }
}
