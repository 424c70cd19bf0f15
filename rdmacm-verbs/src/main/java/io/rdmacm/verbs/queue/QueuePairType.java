// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;

/** The transport service of a queue pair ({@code enum ibv_qp_type}, ibv_create_qp(3)). */
public enum QueuePairType {
    /** Reliable connection. */
    RC(Rdma.IBV_QPT_RC()),
    /** Unreliable connection. */
    UC(Rdma.IBV_QPT_UC()),
    /** Unreliable datagram. */
    UD(Rdma.IBV_QPT_UD()),
    /** Raw Ethernet packets. */
    RAW_PACKET(Rdma.IBV_QPT_RAW_PACKET()),
    /** The sending side of an extended reliable connection. */
    XRC_SEND(Rdma.IBV_QPT_XRC_SEND()),
    /** The receiving side of an extended reliable connection. */
    XRC_RECV(Rdma.IBV_QPT_XRC_RECV()),
    /** A type of the device's driver. */
    DRIVER(Rdma.IBV_QPT_DRIVER());

    private final int value;

    QueuePairType(int value) {
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
    public static QueuePairType of(int value) {
        for (QueuePairType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        throw new IllegalArgumentException("no queue pair type " + value);
    }
}
