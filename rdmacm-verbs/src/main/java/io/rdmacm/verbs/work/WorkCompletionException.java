// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.verbs.error.RdmaException;

/** A work request ended with an error. The queue pair is in the error state now. */
public class WorkCompletionException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final transient WorkCompletion completion;
    private final WorkCompletionStatus status;

    /**
     * The exception of a completion.
     *
     * @param completion whose status is not a success
     */
    public WorkCompletionException(WorkCompletion completion) {
        super("ibv_poll_cq", "work request " + completion.workRequestId() + " on queue pair "
                + completion.queuePairNumber() + " failed: " + completion.status() + ", vendor error 0x"
                + Integer.toHexString(completion.vendorError()));
        this.completion = completion;
        this.status = completion.status();
    }

    /** The completion; null after deserialisation. */
    public WorkCompletion completion() {
        return completion;
    }

    /** How the work request ended. */
    public WorkCompletionStatus status() {
        return status;
    }
}
