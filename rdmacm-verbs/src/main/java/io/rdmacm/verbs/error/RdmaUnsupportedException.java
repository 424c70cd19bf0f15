// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * The device, its driver, the kernel or the installed rdma-core does not support what was requested. The error number
 * is usually EOPNOTSUPP or ENOSYS; it is another one where the attributes of the device reveal that this is the reason.
 */
public class RdmaUnsupportedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception for a C function that is not supported.
     *
     * @param function the C function
     * @param errno the error number, positive
     * @param errnoName the name of the error number
     * @param message the message
     */
    public RdmaUnsupportedException(String function, int errno, String errnoName, String message) {
        super(function, errno, errnoName, message);
    }
}
