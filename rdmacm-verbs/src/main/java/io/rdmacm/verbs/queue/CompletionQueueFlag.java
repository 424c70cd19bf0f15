// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** Options of an extended completion queue ({@code enum ibv_create_cq_attr_flags}, ibv_create_cq_ex(3)). */
public enum CompletionQueueFlag {
    /**
     * The driver does no locking of its own. The queue stays thread-safe: this library admits one thread at a time. On
     * mlx5 every extended completion queue is made so, because posts would wait for an open cursor otherwise.
     */
    SINGLE_THREADED(Rdma.IBV_CREATE_CQ_ATTR_SINGLE_THREADED()),
    /** An overrun is not an error: new completions overwrite old ones. */
    IGNORE_OVERRUN(Rdma.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN());

    private final int bit;

    CompletionQueueFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
