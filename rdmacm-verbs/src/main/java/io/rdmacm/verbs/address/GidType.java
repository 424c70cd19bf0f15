// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import io.rdmacm.bindings.Rdma;

/** The protocol of packets sent from a GID ({@code enum ibv_gid_type}, ibv_query_gid_ex(3)). */
public enum GidType {
    /** InfiniBand. */
    IB(Rdma.IBV_GID_TYPE_IB()),
    /** RoCE version 1: Ethernet frames with an EtherType of their own. */
    ROCE_V1(Rdma.IBV_GID_TYPE_ROCE_V1()),
    /** RoCE version 2: UDP over IPv4 or IPv6. */
    ROCE_V2(Rdma.IBV_GID_TYPE_ROCE_V2()),
    /** A type newer than this library. */
    OTHER(-1);

    private final int value;

    GidType(int value) {
        this.value = value;
    }

    /** {@return the C constant; -1 for {@link #OTHER}} */
    public int value() {
        return value;
    }

    /**
     * Returns the type with the given C constant.
     *
     * @param value a value of {@code enum ibv_gid_type}
     * @return the type; {@link #OTHER} for an unknown constant
     */
    public static GidType of(int value) {
        for (GidType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return OTHER;
    }
}
