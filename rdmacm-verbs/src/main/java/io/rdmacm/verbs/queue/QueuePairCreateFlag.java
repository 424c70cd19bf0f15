// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.QueuePairInitAttributes;

/** How a queue pair is made ({@code enum ibv_qp_create_flags}, ibv_create_qp_ex(3)). */
public enum QueuePairCreateFlag {
    /** Multicast that it sends does not come back to it. */
    BLOCK_SELF_MCAST_LB(Rdma.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB()),
    /** The checksum of received Ethernet frames is written to memory too. */
    SCATTER_FCS(Rdma.IBV_QP_CREATE_SCATTER_FCS()),
    /** VLAN headers of received frames are taken out and reported by the completion. */
    CVLAN_STRIPPING(Rdma.IBV_QP_CREATE_CVLAN_STRIPPING()),
    /** It sends in the name of another queue pair; comes with {@link QueuePairInitAttributes#sourceQueuePair()}. */
    SOURCE_QPN(Rdma.IBV_QP_CREATE_SOURCE_QPN()),
    /** Writes over PCI are padded to a cache line. */
    PCI_WRITE_END_PADDING(Rdma.IBV_QP_CREATE_PCI_WRITE_END_PADDING());

    private final int bit;

    QueuePairCreateFlag(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }
}
