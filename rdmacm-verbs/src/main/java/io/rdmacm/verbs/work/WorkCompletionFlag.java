// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** A property of a successful completion ({@code enum ibv_wc_flags}, ibv_poll_cq(3)). */
public enum WorkCompletionFlag {
    /** The first 40 bytes of the receive buffer hold a global route header; datagrams only ({@code IBV_WC_GRH}). */
    GRH(Rdma.IBV_WC_GRH()),
    /** The immediate value is valid ({@code IBV_WC_WITH_IMM}). */
    WITH_IMM(Rdma.IBV_WC_WITH_IMM()),
    /** The IPv4 header checksum and the TCP or UDP checksum were verified ({@code IBV_WC_IP_CSUM_OK}). */
    IP_CSUM_OK(Rdma.IBV_WC_IP_CSUM_OK()),
    /** A remote key was invalidated, see {@link Completion#invalidatedKey()} ({@code IBV_WC_WITH_INV}). */
    WITH_INV(Rdma.IBV_WC_WITH_INV()),
    /**
     * Tag matching: the device needs to learn the number of unexpected messages before it matches new tags
     * ({@code IBV_WC_TM_SYNC_REQ}); see
     * {@link io.rdmacm.verbs.TagOperation#unexpectedCount TagOperation.unexpectedCount}.
     */
    TM_SYNC_REQ(Rdma.IBV_WC_TM_SYNC_REQ()),
    /** Tag matching: the message matched the tag that was added with this id ({@code IBV_WC_TM_MATCH}). */
    TM_MATCH(Rdma.IBV_WC_TM_MATCH()),
    /** Tag matching: all data has arrived in the buffer ({@code IBV_WC_TM_DATA_VALID}). */
    TM_DATA_VALID(Rdma.IBV_WC_TM_DATA_VALID());


    private final int bit;

    WorkCompletionFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the flags in a mask. Bits that this library has no name for are kept.
     *
     * @param mask bits of {@code enum ibv_wc_flags}, such as {@link Completion#flagBits()}
     * @return the set of the flags
     */
    public static FlagSet<WorkCompletionFlag> of(int mask) {
        return FlagSet.of(WorkCompletionFlag.class, Integer.toUnsignedLong(mask), WorkCompletionFlag::bit);
    }
}
