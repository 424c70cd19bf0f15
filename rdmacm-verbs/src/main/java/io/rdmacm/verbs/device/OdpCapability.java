// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What on-demand paging is good for with a transport ({@code enum ibv_odp_transport_cap_bits}). */
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
    /** Receives of shared receive queues. */
    SRQ_RECV(Rdma.IBV_ODP_SUPPORT_SRQ_RECV());

    private final int bit;

    OdpCapability(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    public static FlagSet<OdpCapability> of(int mask) {
        return FlagSet.of(values(), Integer.toUnsignedLong(mask), OdpCapability::bit);
    }
}
