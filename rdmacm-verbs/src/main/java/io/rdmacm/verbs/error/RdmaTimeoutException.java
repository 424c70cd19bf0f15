// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/** What was waited for did not happen in time: nothing was consumed, and waiting again is possible. */
public class RdmaTimeoutException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * A wait of ours that ran out.
     *
     * @param function what was waited for
     * @param message the message
     */
    public RdmaTimeoutException(String function, String message) {
        super(function, message);
    }

    /**
     * A C function that timed out.
     *
     * @param function the C function
     * @param errno its error number
     * @param errnoName the symbol of the error number
     * @param message the message
     */
    public RdmaTimeoutException(String function, int errno, String errnoName, String message) {
        super(function, errno, errnoName, message);
    }
}
