// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.TagOperation;

/** What is special about a successful completion ({@code enum ibv_wc_flags}, ibv_poll_cq(3)). */
public enum WorkCompletionFlag {
    /** The first 40 bytes of the receive buffer hold a global route header ({@code IBV_WC_GRH}). */
    GRH(Rdma.IBV_WC_GRH()),
    /** The immediate value is valid ({@code IBV_WC_WITH_IMM}). */
    WITH_IMM(Rdma.IBV_WC_WITH_IMM()),
    /** The checksums of the packet were checked and are right ({@code IBV_WC_IP_CSUM_OK}). */
    IP_CSUM_OK(Rdma.IBV_WC_IP_CSUM_OK()),
    /** A remote key was invalidated, see {@link Completion#invalidatedKey()} ({@code IBV_WC_WITH_INV}). */
    WITH_INV(Rdma.IBV_WC_WITH_INV()),
    /**
     * Tag matching: the device matches no new tags until it is told the number of unexpected messages
     * ({@code IBV_WC_TM_SYNC_REQ}); see {@link TagOperation#unexpectedCount}.
     */
    TM_SYNC_REQ(Rdma.IBV_WC_TM_SYNC_REQ()),
    /** Tag matching: the message belongs to the buffer that was added with the id ({@code IBV_WC_TM_MATCH}). */
    TM_MATCH(Rdma.IBV_WC_TM_MATCH()),
    /** Tag matching: all data is in the buffer ({@code IBV_WC_TM_DATA_VALID}). */
    TM_DATA_VALID(Rdma.IBV_WC_TM_DATA_VALID());

    private static final WorkCompletionFlag[] VALUES = values();

    private final int bit;

    WorkCompletionFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /** Returns the flags of a mask, such as {@link Completion#flagBits()}; bits without a name are kept. */
    public static FlagSet<WorkCompletionFlag> of(int mask) {
        return FlagSet.of(VALUES, Integer.toUnsignedLong(mask), WorkCompletionFlag::bit);
    }
}
