// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a work request failed: its completion has a status other than {@link WorkCompletionStatus#SUCCESS}. The
 * queue pair is usually in the error state then, see {@link WorkCompletionStatus}.
 */
public class WorkCompletionException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable WorkCompletion completion;
    /** How the work request ended. */
    private final WorkCompletionStatus status;

    /**
     * Creates the exception for a completion.
     *
     * @param completion a completion whose status is not SUCCESS
     */
    public WorkCompletionException(WorkCompletion completion) {
        this("", completion);
    }

    /**
     * Creates the exception for a completion, with a message that names more than the queue pair.
     *
     * @param completion a completion whose status is not SUCCESS
     * @param subject what the work request was posted for, such as a connection
     */
    public WorkCompletionException(WorkCompletion completion, String subject) {
        this(" of " + subject, completion);
    }

    private WorkCompletionException(String of, WorkCompletion completion) {
        super("ibv_poll_cq", "work request " + completion.workRequestId() + " on queue pair "
                + completion.queuePairNumber() + of + " failed: " + completion.status() + ", vendor error 0x"
                + Integer.toHexString(completion.vendorError()) + hint(completion.status()));
        this.completion = completion;
        this.status = completion.status();
    }

    private static String hint(WorkCompletionStatus status) {
        return switch (status) {
            case REM_INV_REQ_ERR, REM_OP_ERR -> ": the message was longer than the peer's receive buffers,"
                    + " or the peer does not support the operation";
            case REM_ACCESS_ERR -> ": the peer has no region with this key at this address, or it lacks REMOTE_READ,"
                    + " REMOTE_WRITE or REMOTE_ATOMIC";
            case LOC_PROT_ERR -> ": the memory is not registered here, or without LOCAL_WRITE, which receives and"
                    + " reads need";
            case RNR_RETRY_EXC_ERR -> ": the peer had no receive posted";
            case RETRY_EXC_ERR -> ": the peer does not answer any more";
            default -> "";
        };
    }

    /** {@return the completion; null after deserialisation} */
    public @Nullable WorkCompletion completion() {
        return completion;
    }

    /** {@return the status of the work request} */
    public WorkCompletionStatus status() {
        return status;
    }
}
