// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/** The state transitions of queue pairs of dynamic connections, see mlx5dv_create_qp(3). */
public final class DcTransitions {
    private DcTransitions() {
    }

    /** Those of an initiator: RESET, INIT, RTR, RTS. */
    public static final class Dci {
        private Dci() {
        }

        /**
         * Returns the transition from RESET to INIT.
         *
         * @param port the number of the local port, from 1
         * @param partitionKeyIndex the index of the partition key, 16 bits
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port)
                    .partitionKeyIndex(partitionKeyIndex).build();
        }

        /**
         * Returns the transition from INIT to RTR.
         *
         * @param pathMtu the path MTU in bytes
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(int pathMtu) {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).pathMtu(pathMtu).build();
        }

        /**
         * Returns the transition from RTR to RTS, in which messages are sent.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @param timeout how long to wait for an acknowledgement before a packet is retransmitted
         * @param retryCount the number of retransmissions: 0 to 7
         * @param rnrRetry the number of retransmissions to a peer that has no receive posted: 0 to 6, or 7 for no limit
         * @param maxReadAtomic how many RDMA reads and atomics may be outstanding: 0 to 255
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout, int retryCount,
                int rnrRetry, int maxReadAtomic) {
            return QueuePairAttributes.builder().state(QueuePairState.RTS).sendPacketNumber(sendPacketNumber)
                    .timeout(timeout).retryCount(retryCount).rnrRetry(rnrRetry).maxReadAtomic(maxReadAtomic).build();
        }
    }

    /** Those of a target: RESET, INIT, RTR, in which it receives. */
    public static final class Dct {
        private Dct() {
        }

        /**
         * Returns the transition from RESET to INIT.
         *
         * @param port the number of the local port, from 1
         * @param partitionKeyIndex the index of the partition key, 16 bits
         * @param access the remote operations that are allowed
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port)
                    .partitionKeyIndex(partitionKeyIndex).accessFlags(access).build();
        }

        /**
         * Returns the transition from INIT to RTR, in which messages are received.
         *
         * @param path the local end of paths: port, GID index, service level and hop limit count
         * @param pathMtu the path MTU in bytes
         * @param minRnrTimer how long an initiator has to wait before it retransmits if no receive is posted
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, RnrTimer minRnrTimer) {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).path(path).pathMtu(pathMtu)
                    .minRnrTimer(minRnrTimer).build();
        }
    }
}
