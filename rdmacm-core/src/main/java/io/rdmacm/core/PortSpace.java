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
    /** InfiniBand services, over reliable connections. */
    IB(Rdma.RDMA_PS_IB(), QueuePairType.RC),
    /** Datagrams to the multicast groups of IP over InfiniBand. */
    IPOIB(Rdma.RDMA_PS_IPOIB(), QueuePairType.UD);

    private final int value;
    private final QueuePairType queuePairType;

    PortSpace(int value, QueuePairType queuePairType) {
        this.value = value;
        this.queuePairType = queuePairType;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /** {@return the type of the queue pairs of its ids} */
    public QueuePairType queuePairType() {
        return queuePairType;
    }

    /**
     * Returns how much private data {@link CmId#connect} can send. The header that librdmacm adds to the message in
     * some port spaces is already deducted.
     *
     * @return the limit in bytes: 56 for connections, 180 for datagrams
     */
    public int maxConnectPrivateData() {
        return PrivateDataLimit.CONNECT.of(this);
    }

    /**
     * Returns how much private data {@link CmId#accept} can send.
     *
     * @return the limit in bytes: 196 for connections, 136 for datagrams
     */
    public int maxAcceptPrivateData() {
        return PrivateDataLimit.ACCEPT.of(this);
    }

    /**
     * Returns how much private data {@link CmId#reject} can send.
     *
     * @return the limit in bytes: 148 for connections, 136 for datagrams
     */
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
