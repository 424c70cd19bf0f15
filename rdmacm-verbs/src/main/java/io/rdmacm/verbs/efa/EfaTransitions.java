// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions.Ud;

/** The transitions that bring an SRD queue pair to the state RTS; the first two are those of type UD. */
public final class EfaTransitions {
    /** The number of retries that means: without end. */
    public static final int RETRY_FOREVER = 7;

    private EfaTransitions() {
    }

    /**
     * Returns the transition from RESET to INIT, in which receives can be posted.
     *
     * @param port the number of the local port, starting at 1
     * @param partitionKeyIndex the index of the partition key in the table of the port, 16 bits
     * @param queueKey the Q_Key that peers have to send
     * @return the attributes
     */
    public static QueuePairAttributes resetToInit(int port, int partitionKeyIndex, int queueKey) {
        return Ud.resetToInit(port, partitionKeyIndex, queueKey);
    }

    /** {@return the transition from INIT to RTR, in which messages are received} */
    public static QueuePairAttributes initToRtr() {
        return Ud.initToRtr();
    }

    /**
     * Returns the transition from RTR to RTS, in which messages are sent.
     *
     * @param sendPacketNumber the packet sequence number to start with, 24 bits
     * @return the attributes
     */
    public static QueuePairAttributes rtrToRts(int sendPacketNumber) {
        return Ud.rtrToRts(sendPacketNumber);
    }

    /**
     * Returns the transition from RTR to RTS, for a device with {@link EfaCapability#RNR_RETRY}.
     *
     * @param sendPacketNumber the packet sequence number to start with, 24 bits
     * @param rnrRetry how often a message is sent again if the receiver has no receive posted: 0 to 7, where 7 means
     *        without end
     * @return the attributes
     */
    public static QueuePairAttributes rtrToRts(int sendPacketNumber, int rnrRetry) {
        return QueuePairAttributes.builder().state(QueuePairState.RTS).sendPacketNumber(sendPacketNumber)
                .rnrRetry(rnrRetry).build();
    }
}
