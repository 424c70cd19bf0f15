// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** Whether a process may fork while it uses RDMA ({@code enum ibv_fork_status}, ibv_is_fork_initialized(3)). */
public enum ForkStatus {
    /** {@link ForkSupport#initialize()} was not called: a fork may take registered memory away. */
    DISABLED(Rdma.IBV_FORK_DISABLED()),
    /** It was called: registered memory stays with the parent. */
    ENABLED(Rdma.IBV_FORK_ENABLED()),
    /** The kernel copies registered memory for the child; nothing needs to be done. */
    UNNEEDED(Rdma.IBV_FORK_UNNEEDED());

    private final int value;

    ForkStatus(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The status of a C constant; {@link #DISABLED} for one that is not known. */
    public static ForkStatus of(int value) {
        for (ForkStatus constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return DISABLED;
    }
}
