// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/**
 * The access rights of a memory region ({@code enum ibv_access_flags}, ibv_reg_mr(3)), or the remote operations that a
 * queue pair allows. Local reads of a memory region are always allowed.
 */
public enum AccessFlag {
    /** The local device may write to the region: for receives and for the results of RDMA reads and atomics. */
    LOCAL_WRITE(Rdma.IBV_ACCESS_LOCAL_WRITE()),
    /** Peers may write to the region; requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(Rdma.IBV_ACCESS_REMOTE_WRITE()),
    /** Peers may read from the region. */
    REMOTE_READ(Rdma.IBV_ACCESS_REMOTE_READ()),
    /** Peers may perform atomic operations on the region; requires {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(Rdma.IBV_ACCESS_REMOTE_ATOMIC()),
    /** Memory windows may be bound to the region. */
    MW_BIND(Rdma.IBV_ACCESS_MW_BIND()),
    /** The region is addressed by offsets from its start instead of virtual addresses. */
    ZERO_BASED(Rdma.IBV_ACCESS_ZERO_BASED()),
    /** On-demand paging: the memory is not pinned. */
    ON_DEMAND(Rdma.IBV_ACCESS_ON_DEMAND()),
    /** The memory is guaranteed to consist of huge pages; only with {@link #ON_DEMAND}. */
    HUGETLB(Rdma.IBV_ACCESS_HUGETLB()),
    /** Peers may {@linkplain io.rdmacm.verbs.SendBatch#flush flush} the region with {@link PlacementType#GLOBAL}. */
    FLUSH_GLOBAL(Rdma.IBV_ACCESS_FLUSH_GLOBAL()),
    /**
     * Peers may {@linkplain io.rdmacm.verbs.SendBatch#flush flush} the region with {@link PlacementType#PERSISTENT};
     * the memory must be persistent.
     */
    FLUSH_PERSISTENT(Rdma.IBV_ACCESS_FLUSH_PERSISTENT()),
    /** The system may reorder accesses to the region to improve performance; ignored if it cannot. */
    RELAXED_ORDERING(Rdma.IBV_ACCESS_RELAXED_ORDERING());

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
