// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

/**
 * A copy of one completion ({@code struct ibv_wc}, ibv_poll_cq(3)), to keep. When the status is not a success, only the
 * work request id, the status, the vendor error and the queue pair number mean something.
 *
 * @param workRequestId the id that the program gave the work request
 * @param status how it ended
 * @param opcode what it was
 * @param vendorError the device's own code of an error
 * @param byteLength how many bytes were received, or read; not set for sends
 * @param immediate the immediate value of the sender, in the byte order of the machine; valid with
 *        {@link #FLAG_WITH_IMMEDIATE}
 * @param queuePairNumber the queue pair that it is of
 * @param sourceQueuePair the sender's queue pair; for datagrams
 * @param flags {@code enum ibv_wc_flags}
 */
public record WorkCompletion(long workRequestId, WorkCompletionStatus status, WorkCompletionOpcode opcode,
        int vendorError, int byteLength, int immediate, int queuePairNumber, int sourceQueuePair, int flags) {
    /** The first 40 bytes of the receive buffer hold a global route header ({@code IBV_WC_GRH}). */
    public static final int FLAG_GRH = 1;
    /** The immediate value is valid ({@code IBV_WC_WITH_IMM}). */
    public static final int FLAG_WITH_IMMEDIATE = 2;
    /** The checksums of the packet were checked and are right ({@code IBV_WC_IP_CSUM_OK}). */
    public static final int FLAG_IP_CHECKSUM_OK = 4;
    /** A remote key was invalidated ({@code IBV_WC_WITH_INV}). */
    public static final int FLAG_WITH_INVALIDATE = 8;
    /**
     * Tag matching: the device matches no new tags until it is told the number of unexpected messages
     * ({@code IBV_WC_TM_SYNC_REQ}); see {@link TagOperation#unexpectedCount}.
     */
    public static final int FLAG_TAG_SYNC_REQUEST = 16;
    /** Tag matching: the message belongs to the buffer that was added with the id ({@code IBV_WC_TM_MATCH}). */
    public static final int FLAG_TAG_MATCH = 32;
    /** Tag matching: all data is in the buffer ({@code IBV_WC_TM_DATA_VALID}). */
    public static final int FLAG_TAG_DATA_VALID = 64;
}
