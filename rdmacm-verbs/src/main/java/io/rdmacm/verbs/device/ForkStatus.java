// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** Whether it is safe to fork while RDMA is in use ({@code enum ibv_fork_status}, ibv_is_fork_initialized(3)). */
public enum ForkStatus {
    /**
     * {@link ForkSupport#initialize()} was not called: after a fork, copy-on-write can separate the parent from the
     * memory that the device accesses.
     */
    DISABLED(Rdma.IBV_FORK_DISABLED()),
    /** {@link ForkSupport#initialize()} was called: registered memory stays with the parent. */
    ENABLED(Rdma.IBV_FORK_ENABLED()),
    /** The kernel copies registered memory for the child right away; nothing needs to be done. */
    UNNEEDED(Rdma.IBV_FORK_UNNEEDED());

    private final int value;

    ForkStatus(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the status of a C constant.
     *
     * @param value the value of the C constant
     * @return the status; {@link #DISABLED} if it is not known
     */
    public static ForkStatus of(int value) {
        for (ForkStatus constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return DISABLED;
    }
}
