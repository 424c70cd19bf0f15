// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The state of a work queue ({@code enum ibv_wq_state}, ibv_modify_wq(3)). */
public enum WorkQueueState {
    /** Nothing can be posted. */
    RESET(Rdma.IBV_WQS_RESET()),
    /** Ready: packets are received. */
    RDY(Rdma.IBV_WQS_RDY()),
    /** All posted work requests complete with WR_FLUSH_ERR. */
    ERR(Rdma.IBV_WQS_ERR()),
    /** The state is not known. */
    UNKNOWN(Rdma.IBV_WQS_UNKNOWN());

    private final int value;

    WorkQueueState(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the state with the given C constant.
     *
     * @param value a value of {@code enum ibv_wq_state}
     * @return the state; {@link #UNKNOWN} for an unknown constant
     */
    public static WorkQueueState of(int value) {
        for (WorkQueueState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
