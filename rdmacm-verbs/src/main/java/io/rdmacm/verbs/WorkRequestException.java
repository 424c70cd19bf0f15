// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

/**
 * A work request was refused when it was posted: those before it in the batch were posted, it and those after it were
 * not. ENOMEM means that the queue is full, EINVAL that the request or the state of the queue pair is wrong.
 */
public class WorkRequestException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int failedIndex;

    WorkRequestException(String function, int errno, int failedIndex, String detail) {
        super(function, errno, detail);
        this.failedIndex = failedIndex;
    }

    /** The index of the refused request in its block. */
    public int failedIndex() {
        return failedIndex;
    }
}
