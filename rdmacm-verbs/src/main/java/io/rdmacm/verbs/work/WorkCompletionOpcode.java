// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** The operation of a completed work request ({@code enum ibv_wc_opcode}, ibv_poll_cq(3)). */
public enum WorkCompletionOpcode {
    /** A send. */
    SEND(Rdma.IBV_WC_SEND()),
    /** An RDMA write. */
    RDMA_WRITE(Rdma.IBV_WC_RDMA_WRITE()),
    /** An RDMA read. */
    RDMA_READ(Rdma.IBV_WC_RDMA_READ()),
    /** A compare-and-swap. */
    COMP_SWAP(Rdma.IBV_WC_COMP_SWAP()),
    /** A fetch-and-add. */
    FETCH_ADD(Rdma.IBV_WC_FETCH_ADD()),
    /** A memory window bind. */
    BIND_MW(Rdma.IBV_WC_BIND_MW()),
    /** A local invalidate. */
    LOCAL_INV(Rdma.IBV_WC_LOCAL_INV()),
    /** A send with TCP segmentation offload. */
    TSO(Rdma.IBV_WC_TSO()),
    /** An atomic write. */
    ATOMIC_WRITE(Rdma.IBV_WC_ATOMIC_WRITE()),
    /** A flush. */
    FLUSH(Rdma.IBV_WC_FLUSH()),
    /** A receive: a message arrived. */
    RECV(Rdma.IBV_WC_RECV()),
    /** A receive that was consumed by an RDMA write with immediate. */
    RECV_RDMA_WITH_IMM(Rdma.IBV_WC_RECV_RDMA_WITH_IMM()),
    /** Tag matching: a tag was added. */
    TM_ADD(Rdma.IBV_WC_TM_ADD()),
    /** Tag matching: a tag was deleted. */
    TM_DEL(Rdma.IBV_WC_TM_DEL()),
    /** Tag matching: the number of unexpected messages was synchronised. */
    TM_SYNC(Rdma.IBV_WC_TM_SYNC()),
    /** Tag matching: a message arrived. */
    TM_RECV(Rdma.IBV_WC_TM_RECV()),
    /** Tag matching: a message without a tag arrived. */
    TM_NO_TAG(Rdma.IBV_WC_TM_NO_TAG()),
    /** A driver-specific operation, or one newer than this library. */
    OTHER(-1);

    private final int value;

    WorkCompletionOpcode(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the opcode with the given C constant.
     *
     * @param value a value of {@code enum ibv_wc_opcode}
     * @return the opcode; {@link #OTHER} for an unknown constant
     */
    public static WorkCompletionOpcode of(int value) {
        // The frequent ones first, without a search.
        return switch (value) {
            case 0 -> SEND;
            case 1 -> RDMA_WRITE;
            case 2 -> RDMA_READ;
            case 128 -> RECV;
            case 129 -> RECV_RDMA_WITH_IMM;
            default -> search(value);
        };
    }

    private static WorkCompletionOpcode search(int value) {
        for (WorkCompletionOpcode opcode : values()) {
            if (opcode.value == value) {
                return opcode;
            }
        }
        return OTHER;
    }
}
