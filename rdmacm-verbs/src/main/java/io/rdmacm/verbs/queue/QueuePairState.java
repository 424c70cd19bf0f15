// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The state of a queue pair ({@code enum ibv_qp_state}, ibv_modify_qp(3)). */
public enum QueuePairState {
    /** Newly made; nothing can be posted. */
    RESET(Rdma.IBV_QPS_RESET()),
    /** Receives can be posted. */
    INIT(Rdma.IBV_QPS_INIT()),
    /** Ready to receive. */
    RTR(Rdma.IBV_QPS_RTR()),
    /** Ready to send. */
    RTS(Rdma.IBV_QPS_RTS()),
    /** The send queue is being drained. */
    SQD(Rdma.IBV_QPS_SQD()),
    /** The send queue met an error. */
    SQE(Rdma.IBV_QPS_SQE()),
    /** All work is flushed with errors. */
    ERROR(Rdma.IBV_QPS_ERR()),
    /** The driver did not say. */
    UNKNOWN(Rdma.IBV_QPS_UNKNOWN());

    private final int value;

    QueuePairState(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The state of a C constant. */
    public static QueuePairState of(int value) {
        for (QueuePairState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
