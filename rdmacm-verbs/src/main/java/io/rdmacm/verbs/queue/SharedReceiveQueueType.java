// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The kind of a shared receive queue ({@code enum ibv_srq_type}, ibv_create_srq_ex(3)). */
public enum SharedReceiveQueueType {
    /** Shared by queue pairs that were made with it. */
    BASIC(Rdma.IBV_SRQT_BASIC()),
    /** Named by its number in each message of an extended reliable connection. */
    XRC(Rdma.IBV_SRQT_XRC()),
    /** With a list of tagged buffers that the device matches messages to. */
    TM(Rdma.IBV_SRQT_TM());

    private final int value;

    SharedReceiveQueueType(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }
}
