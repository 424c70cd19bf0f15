// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * The port space of an id, which decides between connections and datagrams ({@code enum rdma_port_space},
 * rdma_create_id(3)).
 */
public enum PortSpace {
    /** Reliable connections. */
    TCP(Rdma.RDMA_PS_TCP(), QueuePairType.RC),
    /** Unreliable datagrams and multicast. */
    UDP(Rdma.RDMA_PS_UDP(), QueuePairType.UD),
    /** InfiniBand services; the ids of this library reach them over reliable connections. */
    IB(Rdma.RDMA_PS_IB(), QueuePairType.RC),
    /** Datagrams to the multicast groups of IP over InfiniBand. */
    IPOIB(Rdma.RDMA_PS_IPOIB(), QueuePairType.UD);

    private final int value;
    private final QueuePairType queuePairType;

    PortSpace(int value, QueuePairType queuePairType) {
        this.value = value;
        this.queuePairType = queuePairType;
    }

    /** Returns the C constant. */
    public int value() {
        return value;
    }

    /** Returns the type of the queue pairs of its ids. */
    public QueuePairType queuePairType() {
        return queuePairType;
    }

    /**
     * Returns how many bytes of private data {@link CmId#connect} can send: 56 for connections, 180 for datagrams.
     * Where librdmacm adds a header of its own to the message, that is counted already.
     */
    public int maxConnectPrivateData() {
        return PrivateDataLimit.CONNECT.of(this);
    }

    /** Returns how many bytes of private data {@link CmId#accept} can send: 196 for connections, 136 for datagrams. */
    public int maxAcceptPrivateData() {
        return PrivateDataLimit.ACCEPT.of(this);
    }

    /** Returns how many bytes of private data {@link CmId#reject} can send: 148 for connections, 136 for datagrams. */
    public int maxRejectPrivateData() {
        return PrivateDataLimit.REJECT.of(this);
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
