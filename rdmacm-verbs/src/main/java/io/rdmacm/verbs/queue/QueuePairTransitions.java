// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The steps from RESET to RTS: a factory for each step and transport, that asks for what the step needs
 * (ibv_modify_qp(3)). What a step may have besides is added by {@link QueuePairAttributes#toBuilder()}. The meanings
 * and limits of the numbers are those of {@link QueuePairAttributes.Builder}.
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

    /** Reliable connections. */
    public static final class Rc {
        private Rc() {
        }

        /** To INIT: receives can be posted. */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /** To RTR: messages of the peer are received. */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber, int maxDestinationReadAtomic, RnrTimer minRnrTimer) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber)
                    .maxDestinationReadAtomic(maxDestinationReadAtomic).minRnrTimer(minRnrTimer).build();
        }

        /** To RTS: messages are sent. */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout, int retryCount,
                int rnrRetry, int maxReadAtomic) {
            return rts(sendPacketNumber).timeout(timeout).retryCount(retryCount).rnrRetry(rnrRetry)
                    .maxReadAtomic(maxReadAtomic).build();
        }
    }

    /** Unreliable connections. */
    public static final class Uc {
        private Uc() {
        }

        /** To INIT: receives can be posted. */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /** To RTR: messages of the peer are received. */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber).build();
        }

        /** To RTS: messages are sent. */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber) {
            return rts(sendPacketNumber).build();
        }
    }

    /** Unreliable datagrams. */
    public static final class Ud {
        private Ud() {
        }

        /** To INIT: receives can be posted. */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, int queueKey) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port)
                    .partitionKeyIndex(partitionKeyIndex).queueKey(queueKey).build();
        }

        /** To RTR: datagrams are received. */
        public static QueuePairAttributes initToRtr() {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).build();
        }

        /** To RTS: datagrams are sent. */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber) {
            return rts(sendPacketNumber).build();
        }
    }

    /** The sending side of an extended reliable connection. */
    public static final class XrcSend {
        private XrcSend() {
        }

        /** To INIT. */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /** To RTR. */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber) {
            return connectedRtr(path, pathMtu, destinationQueuePair, receivePacketNumber).build();
        }

        /** To RTS: messages are sent. */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout, int retryCount,
                int rnrRetry, int maxReadAtomic) {
            return Rc.rtrToRts(sendPacketNumber, timeout, retryCount, rnrRetry, maxReadAtomic);
        }
    }

    /** The receiving side of an extended reliable connection. */
    public static final class XrcReceive {
        private XrcReceive() {
        }

        /** To INIT. */
        public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, AccessFlag... access) {
            return connectedInit(port, partitionKeyIndex, access).build();
        }

        /** To RTR: messages of the peer are received. */
        public static QueuePairAttributes initToRtr(AddressAttributes path, int pathMtu, int destinationQueuePair,
                int receivePacketNumber, int maxDestinationReadAtomic, RnrTimer minRnrTimer) {
            return Rc.initToRtr(path, pathMtu, destinationQueuePair, receivePacketNumber, maxDestinationReadAtomic,
                    minRnrTimer);
        }

        /** To RTS. */
        public static QueuePairAttributes rtrToRts(int sendPacketNumber, AckTimeout timeout) {
            return rts(sendPacketNumber).timeout(timeout).build();
        }
    }

    /** Raw Ethernet packets. */
    public static final class RawPacket {
        private RawPacket() {
        }

        /** To INIT: receives can be posted. */
        public static QueuePairAttributes resetToInit(int port) {
            return QueuePairAttributes.builder().state(QueuePairState.INIT).port(port).build();
        }

        /** To RTR: packets are received. */
        public static QueuePairAttributes initToRtr() {
            return QueuePairAttributes.builder().state(QueuePairState.RTR).build();
        }

        /** To RTS: packets are sent. */
        public static QueuePairAttributes rtrToRts() {
            return QueuePairAttributes.builder().state(QueuePairState.RTS).build();
        }
    }
}
