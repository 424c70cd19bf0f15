// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** How a connected queue pair goes over to its alternate path ({@code enum ibv_mig_state}, ibv_modify_qp(3)). */
public enum PathMigrationState {
    /** It uses the alternate path, or has none. */
    MIGRATED(Rdma.IBV_MIG_MIGRATED()),
    /** The alternate path is being armed: both sides must have done so. */
    REARM(Rdma.IBV_MIG_REARM()),
    /** Ready to go over when the path fails. */
    ARMED(Rdma.IBV_MIG_ARMED());

    private final int value;

    PathMigrationState(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The state of a C constant; {@code MIGRATED} for an unknown one, which is where there is no alternate path. */
    public static PathMigrationState of(int value) {
        for (PathMigrationState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return MIGRATED;
    }
}
