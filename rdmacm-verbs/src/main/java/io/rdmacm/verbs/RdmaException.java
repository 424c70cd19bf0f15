// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.io.IOException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.internal.Errno;
import io.rdmacm.verbs.internal.Hints;

/**
 * A call of librdmacm or libibverbs failed. The message holds the C function, the symbol and text of the error number,
 * and where one is known what to do about it. Subclasses exist only where a program would act differently.
 */
public class RdmaException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    /**
     * An error that has no error number.
     *
     * @param function the C function, or what was tried
     * @param message what went wrong
     */
    public RdmaException(String function, String message) {
        super(message);
        this.function = function;
        this.errno = 0;
    }

    /**
     * A failed C function.
     *
     * @param function the C function
     * @param errno its error number, positive
     * @param detail what it was called for; may be empty
     */
    protected RdmaException(String function, int errno, String detail) {
        super(function + (detail.isEmpty() ? "" : " (" + detail + ")") + ": " + Errno.name(errno) + ", "
                + Errno.text(errno) + Hints.of(function, errno));
        this.function = function;
        this.errno = errno;
    }

    /**
     * The exception for a failed C function: an {@link RdmaUnsupportedException} when the device or its driver lacks
     * the function (EOPNOTSUPP, ENOSYS, ENOTSUPP), an {@link RdmaTimeoutException} for ETIMEDOUT.
     *
     * @param function the C function
     * @param errno its error number, positive
     */
    public static RdmaException of(String function, int errno) {
        return of(function, errno, "");
    }

    /**
     * As {@link #of(String, int)}, with what the function was called for.
     *
     * @param function the C function
     * @param errno its error number, positive
     * @param detail what it was called for; may be empty
     */
    public static RdmaException of(String function, int errno, String detail) {
        if (errno == Rdma.EOPNOTSUPP() || errno == Rdma.ENOSYS() || errno == Errno.KERNEL_ENOTSUPP) {
            return new RdmaUnsupportedException(function, errno, detail);
        }
        if (errno == Rdma.ETIMEDOUT()) {
            return new RdmaTimeoutException(function, errno, detail);
        }
        return new RdmaException(function, errno, detail);
    }

    /** The C function that failed. */
    public final String function() {
        return function;
    }

    /**
     * The error number of the operating system, positive; 0 where there is none. Here the number is that {@code
     * rdma_seterrno} stores into errno.
     */
    @CFunction("rdma_seterrno")
    public final int errno() {
        return errno;
    }

    /** The symbol of the error number, such as {@code ENOMEM}; empty where there is none. */
    public final String errnoName() {
        return errno == 0 ? "" : Errno.name(errno);
    }
}
