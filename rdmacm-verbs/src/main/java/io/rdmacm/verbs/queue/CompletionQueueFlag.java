// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** How an extended completion queue behaves ({@code enum ibv_create_cq_attr_flags}, ibv_create_cq_ex(3)). */
public enum CompletionQueueFlag {
    /**
     * The driver takes no lock of its own. Nothing becomes unsafe by that: this library lets one thread in at a time.
     */
    SINGLE_THREADED(Rdma.IBV_CREATE_CQ_ATTR_SINGLE_THREADED()),
    /** An overrun is no error: new completions take the place of old ones. */
    IGNORE_OVERRUN(Rdma.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN());

    private final int bit;

    CompletionQueueFlag(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }
}
