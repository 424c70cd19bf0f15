// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** Advice about a range of an on-demand paging region ({@code enum ibv_advise_mr_advice}, ibv_advise_mr(3)). */
public enum MemoryAdvice {
    /** Prefetches the pages for reading. */
    PREFETCH(Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH()),
    /** Prefetches the pages for reading and writing. */
    PREFETCH_WRITE(Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE()),
    /** Makes pages that are already in memory available to the device, without faulting in others. */
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
