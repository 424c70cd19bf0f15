// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** Options of a work queue ({@code enum ibv_wq_flags}, ibv_create_wq(3)). */
public enum WorkQueueFlag {
    /** VLAN tags are stripped from received frames and reported in the completion. */
    CVLAN_STRIPPING(Rdma.IBV_WQ_FLAGS_CVLAN_STRIPPING()),
    /** The frame check sequence (FCS) of received Ethernet frames is written to memory as well. */
    SCATTER_FCS(Rdma.IBV_WQ_FLAGS_SCATTER_FCS()),
    /** Packets for which no receive is posted are not dropped immediately but held back for a while. */
    DELAY_DROP(Rdma.IBV_WQ_FLAGS_DELAY_DROP()),
    /** Writes of received data to memory are padded to a full cache line. */
    PCI_WRITE_END_PADDING(Rdma.IBV_WQ_FLAGS_PCI_WRITE_END_PADDING());

    private final int bit;

    WorkQueueFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
