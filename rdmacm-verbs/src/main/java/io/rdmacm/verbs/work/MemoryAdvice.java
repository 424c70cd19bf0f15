// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** What will be done with memory ({@code enum ibv_advise_mr_advice}, ibv_advise_mr(3)). */
public enum MemoryAdvice {
    /** It will be read: its pages are brought in. */
    PREFETCH(Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH()),
    /** It will be written: its pages are brought in for that. */
    PREFETCH_WRITE(Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE()),
    /** Those of its pages that are in memory are told to the device; no others are brought in. */
    PREFETCH_NO_FAULT(Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT());

    private final int value;

    MemoryAdvice(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
