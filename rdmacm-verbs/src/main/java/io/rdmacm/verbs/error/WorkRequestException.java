// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * A work request was refused when it was posted: those before it in the batch were posted, it and those after it were
 * not. ENOMEM means that the queue is full, EINVAL that the request or the state of the queue pair is wrong.
 */
public class WorkRequestException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int failedIndex;

    /**
     * A refused request.
     *
     * @param function the C function
     * @param errno its error number
     * @param errnoName the symbol of the error number
     * @param message the message
     * @param failedIndex the index of the refused request in its block
     */
    public WorkRequestException(String function, int errno, String errnoName, String message, int failedIndex) {
        super(function, errno, errnoName, message);
        this.failedIndex = failedIndex;
    }

    /** The index of the refused request in its block. */
    public int failedIndex() {
        return failedIndex;
    }
}
