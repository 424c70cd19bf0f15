// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

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
    /** The initiator of an extended reliable connection. */
    XRC_SEND(Rdma.IBV_QPT_XRC_SEND()),
    /** The target of an extended reliable connection. */
    XRC_RECV(Rdma.IBV_QPT_XRC_RECV()),
    /** A driver-specific type. */
    DRIVER(Rdma.IBV_QPT_DRIVER());

    private final int value;

    QueuePairType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the type with the given C constant.
     *
     * @param value a value of {@code enum ibv_qp_type}
     * @return the type
     * @throws IllegalArgumentException if there is no such type
     */
    public static QueuePairType of(int value) {
        for (QueuePairType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        throw new IllegalArgumentException("no queue pair type " + value);
    }

    /**
     * Returns the types in a mask that has a bit for each type ({@code supported_qpts}).
     *
     * @param mask the bits, as in C
     * @return the types; keeps bits that this library has no name for
     */
    public static FlagSet<QueuePairType> ofMask(int mask) {
        return FlagSet.of(QueuePairType.class, Integer.toUnsignedLong(mask),
                type -> Integer.toUnsignedLong(1 << type.value));
    }
}
