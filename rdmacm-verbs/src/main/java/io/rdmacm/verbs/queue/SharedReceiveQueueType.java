// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The type of a shared receive queue ({@code enum ibv_srq_type}, ibv_create_srq_ex(3)). */
public enum SharedReceiveQueueType {
    /** Shared by the queue pairs that were created with it. */
    BASIC(Rdma.IBV_SRQT_BASIC()),
    /** For extended reliable connections: each message carries the number of the queue that it is for. */
    XRC(Rdma.IBV_SRQT_XRC()),
    /** For tag matching: the device matches messages against a list of tagged buffers. */
    TM(Rdma.IBV_SRQT_TM());

    private final int value;

    SharedReceiveQueueType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
