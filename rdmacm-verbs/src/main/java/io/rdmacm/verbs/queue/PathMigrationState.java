// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The path migration state of a connected queue pair ({@code enum ibv_mig_state}, ibv_modify_qp(3)). */
public enum PathMigrationState {
    /** The queue pair has migrated to its alternate path, or has none. */
    MIGRATED(Rdma.IBV_MIG_MIGRATED()),
    /** A new alternate path is set; it becomes {@link #ARMED} when both sides have set one. */
    REARM(Rdma.IBV_MIG_REARM()),
    /** The queue pair migrates to the alternate path as soon as the primary path fails. */
    ARMED(Rdma.IBV_MIG_ARMED());

    private final int value;

    PathMigrationState(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the state with the given C constant.
     *
     * @param value a value of {@code enum ibv_mig_state}
     * @return the state; {@link #MIGRATED} for an unknown constant, which some drivers report if there is no alternate
     *         path
     */
    public static PathMigrationState of(int value) {
        for (PathMigrationState state : values()) {
            if (state.value == value) {
                return state;
            }
        }
        return MIGRATED;
    }
}
