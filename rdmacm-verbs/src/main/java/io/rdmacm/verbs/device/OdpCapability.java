// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/**
 * An operation that supports on-demand paging on a transport ({@code enum ibv_odp_transport_cap_bits},
 * ibv_query_device_ex(3)).
 */
public enum OdpCapability {
    /** Sends. */
    SEND(Rdma.IBV_ODP_SUPPORT_SEND()),
    /** Receives. */
    RECV(Rdma.IBV_ODP_SUPPORT_RECV()),
    /** RDMA writes. */
    WRITE(Rdma.IBV_ODP_SUPPORT_WRITE()),
    /** RDMA reads. */
    READ(Rdma.IBV_ODP_SUPPORT_READ()),
    /** Atomic operations. */
    ATOMIC(Rdma.IBV_ODP_SUPPORT_ATOMIC()),
    /** Receives from a shared receive queue. */
    SRQ_RECV(Rdma.IBV_ODP_SUPPORT_SRQ_RECV()),
    /** Flushes. */
    FLUSH(Rdma.IBV_ODP_SUPPORT_FLUSH()),
    /** Atomic writes. */
    ATOMIC_WRITE(Rdma.IBV_ODP_SUPPORT_ATOMIC_WRITE());

    private final int bit;

    OdpCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the operations in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the operations; keeps bits that this library has no name for
     */
    public static FlagSet<OdpCapability> of(int mask) {
        return FlagSet.of(OdpCapability.class, Integer.toUnsignedLong(mask), OdpCapability::bit);
    }
}
