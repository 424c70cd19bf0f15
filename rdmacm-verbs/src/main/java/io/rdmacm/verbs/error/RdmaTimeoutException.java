// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * Something did not happen in time. If a wait of this library timed out, no event or completion was consumed, and it
 * can be repeated; if a C function timed out, the error number is ETIMEDOUT.
 */
public class RdmaTimeoutException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception for a wait of this library.
     *
     * @param function the C function, or the operation, that was waited for
     * @param message the message
     */
    public RdmaTimeoutException(String function, String message) {
        super(function, message);
    }

    /**
     * Creates an exception for a C function that timed out.
     *
     * @param function the C function
     * @param errno the error number, positive
     * @param errnoName the name of the error number
     * @param message the message
     */
    public RdmaTimeoutException(String function, int errno, String errnoName, String message) {
        super(function, errno, errnoName, message);
    }
}
