// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

import java.io.IOException;

import io.rdmacm.bindings.CFunction;

/**
 * A call of librdmacm or libibverbs failed. The message names the C function, the symbol and the text of the error
 * number and, where one is known, a remedy. Subclasses exist only where a program would act differently.
 */
public class RdmaException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;
    private final String errnoName;

    /**
     * An error without an error number.
     *
     * @param function the C function, or the operation
     * @param message the message
     */
    public RdmaException(String function, String message) {
        this(function, 0, "", message);
    }

    /**
     * A failed C function.
     *
     * @param function the C function
     * @param errno its error number, positive; 0 for none
     * @param errnoName the symbol of the error number; empty for none
     * @param message the message
     */
    public RdmaException(String function, int errno, String errnoName, String message) {
        super(message);
        this.function = function;
        this.errno = errno;
        this.errnoName = errnoName;
    }

    /** The C function that failed. */
    public final String function() {
        return function;
    }

    /**
     * The error number of the operating system, positive; 0 if there is none. It is the one that {@code rdma_seterrno}
     * stores into errno.
     */
    @CFunction("rdma_seterrno")
    public final int errno() {
        return errno;
    }

    /** The symbol of the error number, such as {@code ENOMEM}; empty if there is none. */
    public final String errnoName() {
        return errnoName;
    }
}
