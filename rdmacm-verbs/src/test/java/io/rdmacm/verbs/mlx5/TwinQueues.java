// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendOperation;

/** What a queue pair of {@link TwinEnd} is: of a type, and made for batches or for single requests. */
enum TwinQueues {
    RC(QueuePairType.RC),
    UC(QueuePairType.UC),
    UD(QueuePairType.UD),
    XRC(QueuePairType.XRC_SEND),
    UMR(QueuePairType.RC),
    DCI(QueuePairType.DRIVER),
    DCI_STREAMS(QueuePairType.DRIVER),
    CLASSIC_RC(QueuePairType.RC),
    CLASSIC_UC(QueuePairType.UC),
    CLASSIC_UD(QueuePairType.UD),
    CLASSIC_XRC(QueuePairType.XRC_SEND),
    /** With a shared receive queue. */
    SHARED(QueuePairType.RC);

    private final QueuePairType type;

    TwinQueues(QueuePairType type) {
        this.type = type;
    }

    QueuePairType type() {
        return type;
    }

    boolean hasReceives() {
        return type != QueuePairType.XRC_SEND && type != QueuePairType.DRIVER && this != SHARED;
    }

    /** The operations of batches; none if requests are posted without one. */
    Set<SendOperation> operations() {
        if (compareTo(CLASSIC_RC) >= 0) {
            return Set.of();
        }
        Set<SendOperation> all = EnumSet.of(SendOperation.SEND, SendOperation.SEND_WITH_IMM);
        if (this != UD) {
            all.add(SendOperation.RDMA_WRITE);
            all.add(SendOperation.RDMA_WRITE_WITH_IMM);
        }
        if (this != UD && this != UC) {
            all.add(SendOperation.RDMA_READ);
            all.add(SendOperation.ATOMIC_CMP_AND_SWP);
            all.add(SendOperation.ATOMIC_FETCH_AND_ADD);
        }
        if (this == RC) {
            all.add(SendOperation.SEND_WITH_INV);
            all.add(SendOperation.LOCAL_INV);
            all.add(SendOperation.BIND_MW);
        }
        return all;
    }
}
