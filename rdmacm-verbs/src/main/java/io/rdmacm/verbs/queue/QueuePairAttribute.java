// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.Rdma;

/** What can be changed of a queue pair ({@code enum ibv_qp_attr_mask}, ibv_modify_qp(3)). */
public enum QueuePairAttribute {
    /** The state that it goes to. */
    STATE(Rdma.IBV_QP_STATE()),
    /** The state that it is assumed to be in. */
    CUR_STATE(Rdma.IBV_QP_CUR_STATE()),
    /** Whether an async event tells that the send queue is drained. */
    EN_SQD_ASYNC_NOTIFY(Rdma.IBV_QP_EN_SQD_ASYNC_NOTIFY()),
    /** What peers may do. */
    ACCESS_FLAGS(Rdma.IBV_QP_ACCESS_FLAGS()),
    /** The index of the partition key. */
    PKEY_INDEX(Rdma.IBV_QP_PKEY_INDEX()),
    /** The port. */
    PORT(Rdma.IBV_QP_PORT()),
    /** The queue key of datagrams. */
    QKEY(Rdma.IBV_QP_QKEY()),
    /** The way to the peer. */
    AV(Rdma.IBV_QP_AV()),
    /** The largest packet of the path. */
    PATH_MTU(Rdma.IBV_QP_PATH_MTU()),
    /** How long an acknowledgement is waited for. */
    TIMEOUT(Rdma.IBV_QP_TIMEOUT()),
    /** How often a packet is sent again. */
    RETRY_CNT(Rdma.IBV_QP_RETRY_CNT()),
    /** How often it is sent again to a peer without a receive. */
    RNR_RETRY(Rdma.IBV_QP_RNR_RETRY()),
    /** The first packet number to receive. */
    RQ_PSN(Rdma.IBV_QP_RQ_PSN()),
    /** How many reads and atomics this side has under way. */
    MAX_QP_RD_ATOMIC(Rdma.IBV_QP_MAX_QP_RD_ATOMIC()),
    /** The alternate path. */
    ALT_PATH(Rdma.IBV_QP_ALT_PATH()),
    /** How long a peer waits when there is no receive. */
    MIN_RNR_TIMER(Rdma.IBV_QP_MIN_RNR_TIMER()),
    /** The first packet number to send. */
    SQ_PSN(Rdma.IBV_QP_SQ_PSN()),
    /** How many reads and atomics of the peer are taken. */
    MAX_DEST_RD_ATOMIC(Rdma.IBV_QP_MAX_DEST_RD_ATOMIC()),
    /** How it goes over to the alternate path. */
    PATH_MIG_STATE(Rdma.IBV_QP_PATH_MIG_STATE()),
    /** The sizes. */
    CAP(Rdma.IBV_QP_CAP()),
    /** The number of the peer's queue pair. */
    DEST_QPN(Rdma.IBV_QP_DEST_QPN()),
    /** The rate of packets in kbit/s. */
    RATE_LIMIT(Rdma.IBV_QP_RATE_LIMIT());

    private final int bit;

    QueuePairAttribute(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    /** The attributes of a mask; bits that have none are left out. */
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
