// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** What a work queue does ({@code enum ibv_wq_state}, ibv_create_wq(3)). */
public enum WorkQueueState {
    /** Nothing can be posted. */
    RESET(Rdma.IBV_WQS_RESET()),
    /** Messages are received. */
    RDY(Rdma.IBV_WQS_RDY()),
    /** All posted work completes with WR_FLUSH_ERR. */
    ERR(Rdma.IBV_WQS_ERR()),
    /** The driver does not tell. */
    UNKNOWN(Rdma.IBV_WQS_UNKNOWN());

    private final int value;

    WorkQueueState(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The state of a C constant. */
    public static WorkQueueState of(int value) {
        for (WorkQueueState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
