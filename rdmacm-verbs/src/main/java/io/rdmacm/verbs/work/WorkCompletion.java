// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.verbs.internal.ffi.NetworkOrder;

/**
 * A copy of one completion ({@code struct ibv_wc}, ibv_poll_cq(3)), to keep. When the status is not a success, only the
 * work request id, the status, the vendor error and the queue pair number are valid.
 *
 * @param workRequestId the id that the program gave the work request
 * @param status how it ended
 * @param opcode what it was
 * @param vendorError the device's own code of an error
 * @param byteLength how many bytes were received, or read; not set for sends
 * @param immediate the immediate value of the sender, in the byte order of the machine; valid with
 *        {@link #hasImmediate()}
 * @param queuePairNumber the queue pair that it is of
 * @param sourceQueuePair the sender's queue pair; for datagrams
 * @param flagBits the bits of {@code enum ibv_wc_flags}, see {@link #flags()}
 */
public record WorkCompletion(long workRequestId, WorkCompletionStatus status, WorkCompletionOpcode opcode,
        int vendorError, int byteLength, int immediate, int queuePairNumber, int sourceQueuePair, int flagBits)
        implements Completion {
    @Override
    public boolean succeeded() {
        return status == WorkCompletionStatus.SUCCESS;
    }

    @Override
    public boolean hasImmediate() {
        return has(WorkCompletionFlag.WITH_IMM);
    }

    /** C keeps the key where it keeps the immediate value, but not in network byte order. */
    @Override
    public int invalidatedKey() {
        return NetworkOrder.toNetwork(immediate);
    }

    /** Returns this. */
    @Override
    public WorkCompletion copy() {
        return this;
    }

    @Override
    public void check() throws WorkCompletionException {
        if (!succeeded()) {
            throw new WorkCompletionException(this);
        }
    }

    /** As of any record, with the flags by their names. */
    @Override
    public String toString() {
        return "WorkCompletion[workRequestId=" + workRequestId + ", status=" + status + ", opcode=" + opcode
                + ", vendorError=" + vendorError + ", byteLength=" + byteLength + ", immediate=" + immediate
                + ", queuePairNumber=" + queuePairNumber + ", sourceQueuePair=" + sourceQueuePair + ", flags="
                + flags() + "]";
    }
}
