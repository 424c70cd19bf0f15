// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** The link layer of a port ({@code IBV_LINK_LAYER_*}, ibv_query_port(3)). */
public enum LinkLayer {
    /** Not reported, as by old kernels; the port is InfiniBand then. */
    UNSPECIFIED(Rdma.IBV_LINK_LAYER_UNSPECIFIED()),
    /** InfiniBand. */
    INFINIBAND(Rdma.IBV_LINK_LAYER_INFINIBAND()),
    /** Ethernet: RoCE or iWARP. */
    ETHERNET(Rdma.IBV_LINK_LAYER_ETHERNET());

    private final int value;

    LinkLayer(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the link layer of a C constant.
     *
     * @param value the value of the C constant
     * @return the link layer; {@link #UNSPECIFIED} if it is not known
     */
    public static LinkLayer of(int value) {
        for (LinkLayer constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNSPECIFIED;
    }
}
