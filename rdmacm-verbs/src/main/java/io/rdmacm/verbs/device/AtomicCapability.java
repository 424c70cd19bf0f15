// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** The scope in which atomic operations of a device are atomic ({@code enum ibv_atomic_cap}, ibv_query_device(3)). */
public enum AtomicCapability {
    /** The device has no atomic operations. */
    NONE(Rdma.IBV_ATOMIC_NONE()),
    /** Atomic with respect to the operations of this device only. */
    HCA(Rdma.IBV_ATOMIC_HCA()),
    /** Atomic with respect to all devices and processors. */
    GLOB(Rdma.IBV_ATOMIC_GLOB());

    private final int value;

    AtomicCapability(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the capability of a C constant.
     *
     * @param value the value of the C constant
     * @return the capability; {@link #NONE} if it is not known
     */
    public static AtomicCapability of(int value) {
        for (AtomicCapability constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return NONE;
    }
}
