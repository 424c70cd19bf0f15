// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** What a work queue does with packets ({@code enum ibv_wq_flags}, ibv_create_wq(3)). */
public enum WorkQueueFlag {
    /** Takes the VLAN tag out of the packet; it comes with the completion. */
    CVLAN_STRIPPING(Rdma.IBV_WQ_FLAGS_CVLAN_STRIPPING()),
    /** Puts the checksum of the frame behind its data. */
    SCATTER_FCS(Rdma.IBV_WQ_FLAGS_SCATTER_FCS()),
    /** Keeps packets for a while when there is no receive for them. */
    DELAY_DROP(Rdma.IBV_WQ_FLAGS_DELAY_DROP()),
    /** Fills what it writes up to a whole cache line. */
    PCI_WRITE_END_PADDING(Rdma.IBV_WQ_FLAGS_PCI_WRITE_END_PADDING());

    private final int bit;

    WorkQueueFlag(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }
}
