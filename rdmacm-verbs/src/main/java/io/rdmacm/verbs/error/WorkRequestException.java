// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/**
 * A work request was refused when it was posted (ibv_post_send(3), ibv_post_recv(3)). The requests before it in the
 * block have been posted; it and those after it have not. ENOMEM means that the queue is full, EINVAL that the request
 * is invalid or the queue pair is in the wrong state.
 */
public class WorkRequestException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The index of the refused request. */
    private final int failedIndex;

    /**
     * Creates an exception for a request that was refused.
     *
     * @param function the C function
     * @param errno the error number, positive
     * @param errnoName the name of the error number
     * @param message the message
     * @param failedIndex the index of the refused request in its block, from 0
     */
    public WorkRequestException(String function, int errno, String errnoName, String message, int failedIndex) {
        super(function, errno, errnoName, message);
        this.failedIndex = failedIndex;
    }

    /** {@return the index of the refused request in its block, from 0} */
    public int failedIndex() {
        return failedIndex;
    }
}
