// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** What a memory region may be used for ({@code enum ibv_access_flags}, ibv_reg_mr(3)). Local read always is. */
public enum AccessFlag {
    /** The local device writes to it: receives, and the answers to RDMA reads and atomics. */
    LOCAL_WRITE(Rdma.IBV_ACCESS_LOCAL_WRITE()),
    /** A peer writes to it; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(Rdma.IBV_ACCESS_REMOTE_WRITE()),
    /** A peer reads from it. */
    REMOTE_READ(Rdma.IBV_ACCESS_REMOTE_READ()),
    /** A peer does atomic operations on it; needs {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(Rdma.IBV_ACCESS_REMOTE_ATOMIC()),
    /** Memory windows may be bound to it. */
    MW_BIND(Rdma.IBV_ACCESS_MW_BIND()),
    /** Peers address it by its offset, beginning with 0. */
    ZERO_BASED(Rdma.IBV_ACCESS_ZERO_BASED()),
    /** On-demand paging: not pinned. */
    ON_DEMAND(Rdma.IBV_ACCESS_ON_DEMAND()),
    /** The memory is made of huge pages; only with {@link #ON_DEMAND}. */
    HUGETLB(Rdma.IBV_ACCESS_HUGETLB()),
    /** The device may reorder its accesses; ignored where it cannot. */
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
