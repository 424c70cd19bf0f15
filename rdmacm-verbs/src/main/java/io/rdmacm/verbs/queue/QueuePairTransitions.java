// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The transitions from RESET to RTS: a factory for each transition and transport, with a parameter for each attribute
 * that ibv_modify_qp(3) requires. Optional attributes are added with {@link QueuePairAttributes#toBuilder()}. All
 * factories check the ranges of their arguments as {@link QueuePairAttributes.Builder} does, and throw
 * IllegalArgumentException.
 */
public final class QueuePairTransitions {
    private QueuePairTransitions() {
    }

    private static QueuePairAttributes.Builder connectedInit(int port, int partitionKeyIndex, AccessFlag... access) {
        return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port)
                .partitionKeyIndex(partitionKeyIndex).accessFlags(access);
    }

    private static QueuePairAttributes.Builder connectedRtr(AddressAttributes path, int pathMtu,
            int destinationQueuePair, int receivePacketNumber) {
        return QueuePairAttributes.builder().state(QueuePairState.RTR).path(path).pathMtu(pathMtu)
                .destinationQueuePair(destinationQueuePair).receivePacketNumber(receivePacketNumber);
    }

    private static QueuePairAttributes.Builder rts(int sendPacketNumber) {
        return QueuePairAttributes.builder().state(QueuePairState.RTS).sendPacketNumber(sendPacketNumber);
    }

    /** Transitions of reliable connections (RC). */
    public static final class Rc {
        private Rc() {
        }

        /**
         * Returns the transition from RESET to INIT, in which receives can be posted.
         *
         * @param port the number of the local port, starting at 1
         * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
         * @param access the remote operations that are allowed: any of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /**
         * Returns the transition from INIT to RTR, in which messages of the peer are received.
         *
         * @param path the address vector of the peer
         * @param pathMtu the path MTU in bytes: 256, 512, 1024, 2048 or 4096
         * @param destinationQueuePair the number of the queue pair of the peer, 24 bits
         * @param receivePacketNumber the packet sequence number that the peer starts with, 24 bits
         * @param maxDestinationReadAtomic how many RDMA reads and atomics the peer may have outstanding: 0 to 255
         * @param minRnrTimer how long the peer has to wait before it retransmits if no receive is posted
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber, int maxDestinationReadAtomic, RnrTimer minRnrTimer) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber)
                    .maxDestinationReadAtomic(maxDestinationReadAtomic).minRnrTimer(minRnrTimer).build();
        }

        /**
         * Returns the transition from RTR to RTS, in which messages are sent.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @param timeout how long to wait for an acknowledgement before a packet is retransmitted
         * @param retryCount the number of retransmissions before the connection is considered broken: 0 to 7
         * @param rnrRetry the number of retransmissions to a peer that has no receive posted: 0 to 6, or 7 for no limit
         * @param maxReadAtomic how many RDMA reads and atomics this side may have outstanding: 0 to 255
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout, int retryCount,
                int rnrRetry, int maxReadAtomic) {
            return rts(sendPacketNumber).timeout(timeout).retryCount(retryCount).rnrRetry(rnrRetry)
                    .maxReadAtomic(maxReadAtomic).build();
        }
    }

    /** Transitions of unreliable connections (UC). */
    public static final class Uc {
        private Uc() {
        }

        /**
         * Returns the transition from RESET to INIT, in which receives can be posted.
         *
         * @param port the number of the local port, starting at 1
         * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
         * @param access the remote operations that are allowed: any of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /**
         * Returns the transition from INIT to RTR, in which messages of the peer are received.
         *
         * @param path the address vector of the peer
         * @param pathMtu the path MTU in bytes: 256, 512, 1024, 2048 or 4096
         * @param destinationQueuePair the number of the queue pair of the peer, 24 bits
         * @param receivePacketNumber the packet sequence number that the peer starts with, 24 bits
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber).build();
        }

        /**
         * Returns the transition from RTR to RTS, in which messages are sent.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber) {
            return rts(sendPacketNumber).build();
        }
    }

    /** Transitions of unreliable datagrams (UD). */
    public static final class Ud {
        private Ud() {
        }

        /**
         * Returns the transition from RESET to INIT, in which receives can be posted.
         *
         * @param port the number of the local port, starting at 1
         * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
         * @param queueKey the queue key (Q_Key), any 32 bits: incoming datagrams must carry it
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, int queueKey) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port)
                    .partitionKeyIndex(partitionKeyIndex).queueKey(queueKey).build();
        }

        /** {@return the transition from INIT to RTR, in which datagrams are received} */
        public static QueuePairAttributes initToRtr() {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).build();
        }

        /**
         * Returns the transition from RTR to RTS, in which datagrams are sent.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber) {
            return rts(sendPacketNumber).build();
        }
    }

    /** Transitions of the initiator of an extended reliable connection (XRC). */
    public static final class XrcSend {
        private XrcSend() {
        }

        /**
         * Returns the transition from RESET to INIT.
         *
         * @param port the number of the local port, starting at 1
         * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
         * @param access the remote operations that are allowed: any of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /**
         * Returns the transition from INIT to RTR.
         *
         * @param path the address vector of the peer
         * @param pathMtu the path MTU in bytes: 256, 512, 1024, 2048 or 4096
         * @param destinationQueuePair the number of the queue pair of the peer, 24 bits
         * @param receivePacketNumber the packet sequence number that the peer starts with, 24 bits
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber).build();
        }

        /**
         * Returns the transition from RTR to RTS, in which messages are sent.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @param timeout how long to wait for an acknowledgement before a packet is retransmitted
         * @param retryCount the number of retransmissions before the connection is considered broken: 0 to 7
         * @param rnrRetry the number of retransmissions to a peer that has no receive posted: 0 to 6, or 7 for no limit
         * @param maxReadAtomic how many RDMA reads and atomics this side may have outstanding: 0 to 255
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout, int retryCount,
                int rnrRetry, int maxReadAtomic) {
            return Rc.rtrToRts(sendPacketNumber, timeout, retryCount, rnrRetry, maxReadAtomic);
        }
    }

    /** Transitions of the target of an extended reliable connection (XRC). */
    public static final class XrcReceive {
        private XrcReceive() {
        }

        /**
         * Returns the transition from RESET to INIT.
         *
         * @param port the number of the local port, starting at 1
         * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
         * @param access the remote operations that are allowed: any of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /**
         * Returns the transition from INIT to RTR, in which messages of the peer are received.
         *
         * @param path the address vector of the peer
         * @param pathMtu the path MTU in bytes: 256, 512, 1024, 2048 or 4096
         * @param destinationQueuePair the number of the queue pair of the peer, 24 bits
         * @param receivePacketNumber the packet sequence number that the peer starts with, 24 bits
         * @param maxDestinationReadAtomic how many RDMA reads and atomics the peer may have outstanding: 0 to 255
         * @param minRnrTimer how long the peer has to wait before it retransmits if no receive is posted
         * @return the attributes
         */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber, int maxDestinationReadAtomic, RnrTimer minRnrTimer) {
            return Rc.initToRtr(path, pathMtu, destinationQueuePair, receivePacketNumber, maxDestinationReadAtomic,
                    minRnrTimer);
        }

        /**
         * Returns the transition from RTR to RTS.
         *
         * @param sendPacketNumber the packet sequence number to start with, 24 bits
         * @param timeout how long to wait for an acknowledgement before a packet is retransmitted
         * @return the attributes
         */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout) {
            return rts(sendPacketNumber).timeout(timeout).build();
        }
    }

    /** Transitions of queue pairs for raw Ethernet packets. */
    public static final class RawPacket {
        private RawPacket() {
        }

        /**
         * Returns the transition from RESET to INIT, in which receives can be posted.
         *
         * @param port the number of the local port, starting at 1
         * @return the attributes
         */
        public static QueuePairAttributes resetToInit(int port) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port).build();
        }

        /** {@return the transition from INIT to RTR, in which packets are received} */
        public static QueuePairAttributes initToRtr() {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).build();
        }

        /** {@return the transition from RTR to RTS, in which packets are sent} */
        public static QueuePairAttributes rtrToRts() {
            return QueuePairAttributes.builder().state(QueuePairState.RTS).build();
        }
    }
}
