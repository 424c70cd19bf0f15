// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.efa.Efa;

/** Options of an SRD queue pair (efadv_create_qp_ex(3)). */
public enum EfaQueuePairFlag {
    /** Writes with an immediate value consume no receive of this queue pair; since rdma-core 52. */
    UNSOLICITED_WRITE_RECV(Efa.EFADV_QP_FLAGS_UNSOLICITED_WRITE_RECV()),
    /** RDMA writes may carry inline data; since rdma-core 63. */
    INLINE_WRITE(Efa.EFADV_QP_FLAGS_INLINE_WRITE());

    private final int bit;

    EfaQueuePairFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
