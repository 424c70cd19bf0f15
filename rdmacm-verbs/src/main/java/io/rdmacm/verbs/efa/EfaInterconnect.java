// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.efa.Efa;
import io.rdmacm.verbs.work.FlagSet;

/** Which of the numbers of an {@link EfaMemoryAttributes} are valid (efadv_query_mr(3)). */
public enum EfaInterconnect {
    /** That of received messages. */
    RECV(Efa.EFADV_MR_ATTR_VALIDITY_RECV_IC_ID()),
    /** That of RDMA reads of this side. */
    RDMA_READ(Efa.EFADV_MR_ATTR_VALIDITY_RDMA_READ_IC_ID()),
    /** That of RDMA writes of peers. */
    RDMA_RECV(Efa.EFADV_MR_ATTR_VALIDITY_RDMA_RECV_IC_ID());

    private final int bit;

    EfaInterconnect(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the valid numbers in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the valid numbers; keeps bits that this library has no name for
     */
    public static FlagSet<EfaInterconnect> of(int mask) {
        return FlagSet.of(EfaInterconnect.class, Integer.toUnsignedLong(mask), EfaInterconnect::bit);
    }
}
