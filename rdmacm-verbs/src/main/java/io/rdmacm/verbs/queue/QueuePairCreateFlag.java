// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** Options for the creation of a queue pair ({@code enum ibv_qp_create_flags}, ibv_create_qp_ex(3)). */
public enum QueuePairCreateFlag {
    /** Multicast packets that the queue pair sends are not looped back to it. */
    BLOCK_SELF_MCAST_LB(Rdma.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB()),
    /** The frame check sequence (FCS) of received Ethernet frames is written to memory as well. */
    SCATTER_FCS(Rdma.IBV_QP_CREATE_SCATTER_FCS()),
    /** VLAN tags are stripped from received frames and reported in the completion. */
    CVLAN_STRIPPING(Rdma.IBV_QP_CREATE_CVLAN_STRIPPING()),
    /**
     * Packets carry the number of another queue pair as their source; requires
     * {@link io.rdmacm.verbs.QueuePairInitAttributes#sourceQueuePair() QueuePairInitAttributes.sourceQueuePair}.
     */
    SOURCE_QPN(Rdma.IBV_QP_CREATE_SOURCE_QPN()),
    /** Writes of received data to memory are padded to a full cache line. */
    PCI_WRITE_END_PADDING(Rdma.IBV_QP_CREATE_PCI_WRITE_END_PADDING());

    private final int bit;

    QueuePairCreateFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
