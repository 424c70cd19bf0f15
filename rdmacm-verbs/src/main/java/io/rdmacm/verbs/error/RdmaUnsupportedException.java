// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * The device, its driver or the installed rdma-core lacks what was asked for (EOPNOTSUPP, ENOSYS; another number where
 * the device itself says that it lacks it).
 */
public class RdmaUnsupportedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * A C function that is not supported.
     *
     * @param function the C function
     * @param errno its error number
     * @param errnoName the symbol of the error number
     * @param message the message
     */
    public RdmaUnsupportedException(String function, int errno, String errnoName, String message) {
        super(function, errno, errnoName, message);
    }
}
