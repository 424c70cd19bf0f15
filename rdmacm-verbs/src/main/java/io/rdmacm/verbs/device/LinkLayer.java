// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** What a port is connected with ({@code IBV_LINK_LAYER_*}, ibv_query_port(3)). */
public enum LinkLayer {
    /** Not said; an old kernel, then it is InfiniBand. */
    UNSPECIFIED(Rdma.IBV_LINK_LAYER_UNSPECIFIED()),
    /** InfiniBand. */
    INFINIBAND(Rdma.IBV_LINK_LAYER_INFINIBAND()),
    /** Ethernet: RoCE or iWARP. */
    ETHERNET(Rdma.IBV_LINK_LAYER_ETHERNET());

    private final int value;

    LinkLayer(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The link layer of a C constant; {@link #UNSPECIFIED} for one that is not known. */
    public static LinkLayer of(int value) {
        for (LinkLayer constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNSPECIFIED;
    }
}
