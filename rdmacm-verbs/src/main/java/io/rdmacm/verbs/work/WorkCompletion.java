// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.verbs.internal.ffi.NetworkOrder;

/**
 * An immutable copy of a completion ({@code struct ibv_wc}, ibv_poll_cq(3)). If the status is not SUCCESS, only the
 * work request id, the status, the vendor error and the queue pair number are valid.
 *
 * @param workRequestId the id that the program assigned to the work request
 * @param status the status of the work request
 * @param opcode the operation of the work request
 * @param vendorError the vendor-specific error code
 * @param byteLength the number of bytes transferred; not valid for sends and RDMA writes
 * @param immediate the immediate value of the sender, in the byte order of the machine; valid only if
 *        {@link #hasImmediate()}
 * @param queuePairNumber the number of the local queue pair, 24 bits
 * @param sourceQueuePair the number of the sender's queue pair, 24 bits; valid only for received datagrams
 * @param flagBits bits of {@code enum ibv_wc_flags}, see {@link #flags()}
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

    @Override
    public int invalidatedKey() {
        // C has the key in a union with the immediate value, but in host byte order: undo the conversion.
        return NetworkOrder.toNetwork(immediate);
    }

    /** {@return this object} */
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

    /** {@return the usual notation of a record, with the flags by name} */
    @Override
    public String toString() {
        return "WorkCompletion[workRequestId=" + workRequestId + ", status=" + status + ", opcode=" + opcode
                + ", vendorError=" + vendorError + ", byteLength=" + byteLength + ", immediate=" + immediate
                + ", queuePairNumber=" + queuePairNumber + ", sourceQueuePair=" + sourceQueuePair + ", flags="
                + flags() + "]";
    }
}
