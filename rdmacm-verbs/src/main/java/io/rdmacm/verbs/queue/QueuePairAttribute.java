// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.Rdma;

/** An attribute of a queue pair ({@code enum ibv_qp_attr_mask}, ibv_modify_qp(3)). */
public enum QueuePairAttribute {
    /** The state to move to. */
    STATE(Rdma.IBV_QP_STATE()),
    /** The state that the queue pair is assumed to be in. */
    CUR_STATE(Rdma.IBV_QP_CUR_STATE()),
    /** Whether an async event is raised when the send queue is drained. */
    EN_SQD_ASYNC_NOTIFY(Rdma.IBV_QP_EN_SQD_ASYNC_NOTIFY()),
    /** The remote operations that are allowed. */
    ACCESS_FLAGS(Rdma.IBV_QP_ACCESS_FLAGS()),
    /** The index of the partition key in the table of the port. */
    PKEY_INDEX(Rdma.IBV_QP_PKEY_INDEX()),
    /** The local port. */
    PORT(Rdma.IBV_QP_PORT()),
    /** The queue key (Q_Key) of datagrams. */
    QKEY(Rdma.IBV_QP_QKEY()),
    /** The address vector of the peer. */
    AV(Rdma.IBV_QP_AV()),
    /** The path MTU. */
    PATH_MTU(Rdma.IBV_QP_PATH_MTU()),
    /** How long to wait for an acknowledgement. */
    TIMEOUT(Rdma.IBV_QP_TIMEOUT()),
    /** The number of retransmissions before the connection is considered broken. */
    RETRY_CNT(Rdma.IBV_QP_RETRY_CNT()),
    /** The number of retransmissions to a peer that has no receive posted. */
    RNR_RETRY(Rdma.IBV_QP_RNR_RETRY()),
    /** The initial packet sequence number (PSN) of the receive queue. */
    RQ_PSN(Rdma.IBV_QP_RQ_PSN()),
    /** The number of RDMA reads and atomics that may be outstanding as the initiator. */
    MAX_QP_RD_ATOMIC(Rdma.IBV_QP_MAX_QP_RD_ATOMIC()),
    /** The alternate path. */
    ALT_PATH(Rdma.IBV_QP_ALT_PATH()),
    /** How long the peer has to wait if no receive is posted. */
    MIN_RNR_TIMER(Rdma.IBV_QP_MIN_RNR_TIMER()),
    /** The initial packet sequence number (PSN) of the send queue. */
    SQ_PSN(Rdma.IBV_QP_SQ_PSN()),
    /** The number of RDMA reads and atomics that may be outstanding as the target. */
    MAX_DEST_RD_ATOMIC(Rdma.IBV_QP_MAX_DEST_RD_ATOMIC()),
    /** The path migration state. */
    PATH_MIG_STATE(Rdma.IBV_QP_PATH_MIG_STATE()),
    /** The capacities of the queues. */
    CAP(Rdma.IBV_QP_CAP()),
    /** The number of the peer's queue pair. */
    DEST_QPN(Rdma.IBV_QP_DEST_QPN()),
    /** The rate limit in kbit/s. */
    RATE_LIMIT(Rdma.IBV_QP_RATE_LIMIT());

    private final int bit;

    QueuePairAttribute(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the attributes in a mask.
     *
     * @param mask bits of {@code enum ibv_qp_attr_mask}; bits that this library has no name for are ignored
     * @return a new set
     */
    public static Set<QueuePairAttribute> of(int mask) {
        Set<QueuePairAttribute> attributes = EnumSet.noneOf(QueuePairAttribute.class);
        for (QueuePairAttribute attribute : values()) {
            if ((mask & attribute.bit) != 0) {
                attributes.add(attribute);
            }
        }
        return attributes;
    }
}
