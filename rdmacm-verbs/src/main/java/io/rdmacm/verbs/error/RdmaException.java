// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

import java.io.IOException;

import io.rdmacm.bindings.CFunction;

/**
 * A call of librdmacm or libibverbs failed. The message contains the C function, the name and the description of the
 * error number and, where one is known, a remedy. Subclasses exist only where a program would react differently.
 */
public class RdmaException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The C function. */
    private final String function;
    /** The error number, 0 for none. */
    private final int errno;
    /** The symbol of the error number, empty for none. */
    private final String errnoName;

    /**
     * Creates an exception without an error number.
     *
     * @param function the C function, or the operation, that failed
     * @param message the message
     */
    public RdmaException(String function, String message) {
        this(function, 0, "", message);
    }

    /**
     * Creates an exception for a C function that failed.
     *
     * @param function the C function
     * @param errno the error number, positive; 0 if there is none
     * @param errnoName the name of the error number, such as {@code ENOMEM}; empty if there is none
     * @param message the message
     */
    public RdmaException(String function, int errno, String errnoName, String message) {
        super(message);
        this.function = function;
        this.errno = errno;
        this.errnoName = errnoName;
    }

    /** {@return the C function, or the operation, that failed} */
    public final String function() {
        return function;
    }

    /**
     * Returns the error number of the operating system. It is the one that {@code rdma_seterrno} stores in errno.
     *
     * @return the error number, positive; 0 if there is none
     */
    @CFunction("rdma_seterrno")
    public final int errno() {
        return errno;
    }

    /** {@return the name of the error number, such as {@code ENOMEM}; empty if there is none} */
    public final String errnoName() {
        return errnoName;
    }
}
