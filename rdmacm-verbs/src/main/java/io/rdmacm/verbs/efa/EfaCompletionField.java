// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.efa.Efa;

/** What a completion queue of EFA can tell in addition (efadv_create_cq(3)). */
public enum EfaCompletionField {
    /** The GID of the sender: {@link EfaCompletionQueue#sourceGid()}. */
    SGID(Efa.EFADV_WC_EX_WITH_SGID()),
    /** Whether a receive was consumed: {@link EfaCompletionQueue#isUnsolicited()}; since rdma-core 52. */
    IS_UNSOLICITED(Efa.EFADV_WC_EX_WITH_IS_UNSOLICITED());

    private final int bit;

    EfaCompletionField(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
