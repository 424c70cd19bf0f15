// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/** The transport of a device ({@code enum ibv_transport_type}). */
public enum TransportType {
    /** Not known. */
    UNKNOWN(Rdma.IBV_TRANSPORT_UNKNOWN()),
    /** InfiniBand, also over Ethernet. */
    IB(Rdma.IBV_TRANSPORT_IB()),
    /** iWARP. */
    IWARP(Rdma.IBV_TRANSPORT_IWARP()),
    /** usNIC. */
    USNIC(Rdma.IBV_TRANSPORT_USNIC()),
    /** usNIC over UDP. */
    USNIC_UDP(Rdma.IBV_TRANSPORT_USNIC_UDP()),
    /** None of the others. */
    UNSPECIFIED(Rdma.IBV_TRANSPORT_UNSPECIFIED());

    private final int value;

    TransportType(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The type of a C constant; {@link #UNKNOWN} for one that is not known. */
    public static TransportType of(int value) {
        for (TransportType constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
