// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import io.rdmacm.bindings.Rdma;

/** How packets look that are sent from a GID ({@code enum ibv_gid_type}, ibv_query_gid_ex(3)). */
public enum GidType {
    /** InfiniBand. */
    IB(Rdma.IBV_GID_TYPE_IB()),
    /** RoCE version 1: an Ethernet type of its own. */
    ROCE_V1(Rdma.IBV_GID_TYPE_ROCE_V1()),
    /** RoCE version 2: UDP. */
    ROCE_V2(Rdma.IBV_GID_TYPE_ROCE_V2());

    private final int value;

    GidType(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /**
     * The type of a C constant.
     *
     * @throws IllegalArgumentException when there is none
     */
    public static GidType of(int value) {
        for (GidType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        throw new IllegalArgumentException("no GID type " + value);
    }
}
