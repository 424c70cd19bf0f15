// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** How far atomic operations are atomic ({@code enum ibv_atomic_cap}, ibv_query_device(3)). */
public enum AtomicCapability {
    /** There are none. */
    NONE(Rdma.IBV_ATOMIC_NONE()),
    /** Among the operations of this device. */
    HCA(Rdma.IBV_ATOMIC_HCA()),
    /** Among the operations of all devices and processors. */
    GLOB(Rdma.IBV_ATOMIC_GLOB());

    private final int value;

    AtomicCapability(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The capability of a C constant; {@link #NONE} for one that is not known. */
    public static AtomicCapability of(int value) {
        for (AtomicCapability constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return NONE;
    }
}
