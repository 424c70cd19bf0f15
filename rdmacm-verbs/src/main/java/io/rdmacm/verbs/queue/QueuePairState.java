// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The state of a queue pair ({@code enum ibv_qp_state}, ibv_modify_qp(3)). */
public enum QueuePairState {
    /** Newly created or reset; nothing can be posted. */
    RESET(Rdma.IBV_QPS_RESET()),
    /** Initialised: receives can be posted, but nothing is received yet. */
    INIT(Rdma.IBV_QPS_INIT()),
    /** Ready to receive: messages are received, sends cannot be posted yet. */
    RTR(Rdma.IBV_QPS_RTR()),
    /** Ready to send: fully operational. */
    RTS(Rdma.IBV_QPS_RTS()),
    /** Send queue drained or draining: receives go on, posted sends are not started. */
    SQD(Rdma.IBV_QPS_SQD()),
    /** Send queue error, for unreliable transports: receives go on, sends are flushed with errors. */
    SQE(Rdma.IBV_QPS_SQE()),
    /** All posted work requests complete with WR_FLUSH_ERR. */
    ERROR(Rdma.IBV_QPS_ERR()),
    /** The state is not known. */
    UNKNOWN(Rdma.IBV_QPS_UNKNOWN());

    private final int value;

    QueuePairState(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the state with the given C constant.
     *
     * @param value a value of {@code enum ibv_qp_state}
     * @return the state; {@link #UNKNOWN} for an unknown constant
     */
    public static QueuePairState of(int value) {
        for (QueuePairState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
