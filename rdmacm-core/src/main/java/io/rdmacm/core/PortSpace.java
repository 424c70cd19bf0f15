// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.QueuePairType;

/** What the port of an id is a port of ({@code enum rdma_port_space}, rdma_create_id(3)). */
public enum PortSpace {
    /** Reliable connections. */
    TCP(Rdma.RDMA_PS_TCP(), QueuePairType.RC),
    /** Unreliable datagrams and multicast. */
    UDP(Rdma.RDMA_PS_UDP(), QueuePairType.UD),
    /** InfiniBand services of any type. */
    IB(Rdma.RDMA_PS_IB(), QueuePairType.RC),
    /** Datagrams in the multicast groups of IP over InfiniBand. */
    IPOIB(Rdma.RDMA_PS_IPOIB(), QueuePairType.UD);

    private final int value;
    private final QueuePairType queuePairType;

    PortSpace(int value, QueuePairType queuePairType) {
        this.value = value;
        this.queuePairType = queuePairType;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The type of the queue pairs of its ids. */
    public QueuePairType queuePairType() {
        return queuePairType;
    }

    static PortSpace of(int value) {
        for (PortSpace space : values()) {
            if (space.value == value) {
                return space;
            }
        }
        throw new IllegalArgumentException("no port space 0x" + Integer.toHexString(value));
    }
}
