// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** The transport of a device ({@code enum ibv_transport_type}). */
public enum TransportType {
    /** Not known. */
    UNKNOWN(Rdma.IBV_TRANSPORT_UNKNOWN()),
    /** InfiniBand, including RoCE. */
    IB(Rdma.IBV_TRANSPORT_IB()),
    /** iWARP. */
    IWARP(Rdma.IBV_TRANSPORT_IWARP()),
    /** usNIC. */
    USNIC(Rdma.IBV_TRANSPORT_USNIC()),
    /** usNIC over UDP. */
    USNIC_UDP(Rdma.IBV_TRANSPORT_USNIC_UDP()),
    /** No particular transport. */
    UNSPECIFIED(Rdma.IBV_TRANSPORT_UNSPECIFIED());

    private final int value;

    TransportType(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the type of a C constant.
     *
     * @param value the value of the C constant
     * @return the type; {@link #UNKNOWN} if it is not known
     */
    public static TransportType of(int value) {
        for (TransportType constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
