// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Arrays;
import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The parameters of a connection ({@code struct rdma_conn_param}, rdma_connect(3), rdma_accept(3)): each side passes
 * its own to {@link CmId#connect} or {@link CmId#accept}, and receives the peer's with an event. Immutable.
 */
public final class ConnectionParameters {
    /**
     * The value of the responder resources and the initiator depth that stands for as many as the device supports
     * ({@code RDMA_MAX_RESP_RES}).
     */
    public static final int MAXIMUM = Rdma.RDMA_MAX_RESP_RES();

    private static final int MOST_RETRIES = 7;

    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final boolean flowControl;
    private final int retryCount;
    private final int rnrRetryCount;
    private final boolean sharedReceiveQueue;
    private final int queuePairNumber;

    private ConnectionParameters(Builder builder) {
        this.privateData = builder.privateData;
        this.responderResources = builder.responderResources;
        this.initiatorDepth = builder.initiatorDepth;
        this.flowControl = builder.flowControl;
        this.retryCount = builder.retryCount;
        this.rnrRetryCount = builder.rnrRetryCount;
        this.sharedReceiveQueue = builder.sharedReceiveQueue;
        this.queuePairNumber = builder.queuePairNumber;
    }

    /**
     * Returns the default parameters.
     *
     * @return parameters with no private data, as many RDMA reads and atomics as the device supports, 7 retries, and
     *         unlimited RNR retries
     */
    public static ConnectionParameters defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts with the values of these parameters} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.privateData = privateData;
        builder.responderResources = responderResources;
        builder.initiatorDepth = initiatorDepth;
        builder.flowControl = flowControl;
        builder.retryCount = retryCount;
        builder.rnrRetryCount = rnrRetryCount;
        builder.sharedReceiveQueue = sharedReceiveQueue;
        builder.queuePairNumber = queuePairNumber;
        return builder;
    }

    /** Reads the struct of an event. */
    static ConnectionParameters read(long address) {
        Builder builder = builder();
        int length = Byte.toUnsignedInt(Memory.getByte(address + rdma_conn_param.private_data_len$offset()));
        long data = Memory.getLong(address + rdma_conn_param.private_data$offset());
        builder.privateData = data == 0 ? new byte[0] : Memory.bytes(data, length);
        builder.responderResources = unsigned(address + rdma_conn_param.responder_resources$offset());
        builder.initiatorDepth = unsigned(address + rdma_conn_param.initiator_depth$offset());
        builder.flowControl = unsigned(address + rdma_conn_param.flow_control$offset()) != 0;
        builder.retryCount = unsigned(address + rdma_conn_param.retry_count$offset());
        builder.rnrRetryCount = unsigned(address + rdma_conn_param.rnr_retry_count$offset());
        builder.sharedReceiveQueue = unsigned(address + rdma_conn_param.srq$offset()) != 0;
        builder.queuePairNumber = Memory.getInt(address + rdma_conn_param.qp_num$offset());
        return builder.build();
    }

    /** Writes the struct. The private data at the address {@code data} must stay there until C has read both. */
    void write(long address, long data) {
        Memory.putLong(address + rdma_conn_param.private_data$offset(), data);
        Memory.putByte(address + rdma_conn_param.private_data_len$offset(), (byte) privateData.length);
        Memory.putByte(address + rdma_conn_param.responder_resources$offset(), (byte) responderResources);
        Memory.putByte(address + rdma_conn_param.initiator_depth$offset(), (byte) initiatorDepth);
        Memory.putByte(address + rdma_conn_param.flow_control$offset(), (byte) (flowControl ? 1 : 0));
        Memory.putByte(address + rdma_conn_param.retry_count$offset(), (byte) retryCount);
        Memory.putByte(address + rdma_conn_param.rnr_retry_count$offset(), (byte) rnrRetryCount);
        Memory.putByte(address + rdma_conn_param.srq$offset(), (byte) (sharedReceiveQueue ? 1 : 0));
        Memory.putInt(address + rdma_conn_param.qp_num$offset(), queuePairNumber);
    }

    /** {@return a copy of the private data; that of the peer may be padded with zeros at the end} */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** {@return how many RDMA reads and atomics of the peer this side serves at once, or {@link #MAXIMUM}} */
    public int responderResources() {
        return responderResources;
    }

    /** {@return how many RDMA reads and atomics this side may have outstanding, or {@link #MAXIMUM}} */
    public int initiatorDepth() {
        return initiatorDepth;
    }

    /** {@return whether the device supports end-to-end flow control} */
    public boolean flowControl() {
        return flowControl;
    }

    /** {@return how often a message is retransmitted when no acknowledgement arrives, 0 to 7; accept ignores it} */
    public int retryCount() {
        return retryCount;
    }

    /** {@return how often a message is retransmitted when the peer has no receive posted, 0 to 6; 7 for no limit} */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    /** {@return whether the queue pair has a shared receive queue; used only when the id did not create it} */
    public boolean sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /**
     * Returns the number of a queue pair that was not created by the id.
     *
     * @return the number, unsigned; 0 when the id has created a queue pair. In the parameters of the peer, the number
     *         of its queue pair
     */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ConnectionParameters that && Arrays.equals(privateData, that.privateData)
                && responderResources == that.responderResources && initiatorDepth == that.initiatorDepth
                && flowControl == that.flowControl && retryCount == that.retryCount
                && rnrRetryCount == that.rnrRetryCount && sharedReceiveQueue == that.sharedReceiveQueue
                && queuePairNumber == that.queuePairNumber;
    }

    @Override
    public int hashCode() {
        return Objects.hash(Arrays.hashCode(privateData), responderResources, initiatorDepth, flowControl, retryCount,
                rnrRetryCount, sharedReceiveQueue, queuePairNumber);
    }

    @Override
    public String toString() {
        return "ConnectionParameters[" + privateData.length + " bytes of private data, responderResources="
                + responderResources + ", initiatorDepth=" + initiatorDepth + ", flowControl=" + flowControl
                + ", retryCount=" + retryCount + ", rnrRetryCount=" + rnrRetryCount + ", sharedReceiveQueue="
                + sharedReceiveQueue + ", queuePairNumber=0x" + Integer.toHexString(queuePairNumber) + "]";
    }

    private static int unsigned(long address) {
        return Byte.toUnsignedInt(Memory.getByte(address));
    }

    /** Builds {@link ConnectionParameters}. */
    public static final class Builder {
        private byte[] privateData = new byte[0];
        private int responderResources = MAXIMUM;
        private int initiatorDepth = MAXIMUM;
        private boolean flowControl;
        private int retryCount = MOST_RETRIES;
        private int rnrRetryCount = MOST_RETRIES;
        private boolean sharedReceiveQueue;
        private int queuePairNumber;

        private Builder() {
        }

        /**
         * Sets the private data. The call that sends it checks the length; {@link PortSpace} has the limits.
         *
         * @param data copied
         * @return this builder
         */
        public Builder privateData(byte[] data) {
            privateData = data.clone();
            return this;
        }

        /**
         * Sets how many RDMA reads and atomics of the peer this side serves at once.
         *
         * @param count at least 0 and no more than the device supports, or {@link #MAXIMUM}
         * @return this builder
         * @throws IllegalArgumentException when it is negative or above {@link #MAXIMUM}
         */
        public Builder responderResources(int count) {
            responderResources = inRange("responder resources", count, MAXIMUM);
            return this;
        }

        /**
         * Sets how many RDMA reads and atomics this side may have outstanding.
         *
         * @param count at least 0 and no more than the device supports, or {@link #MAXIMUM}
         * @return this builder
         * @throws IllegalArgumentException when it is negative or above {@link #MAXIMUM}
         */
        public Builder initiatorDepth(int count) {
            initiatorDepth = inRange("initiator depth", count, MAXIMUM);
            return this;
        }

        /**
         * Sets whether the device supports end-to-end flow control.
         *
         * @param on whether it does; the default is false
         * @return this builder
         */
        public Builder flowControl(boolean on) {
            flowControl = on;
            return this;
        }

        /**
         * Sets how often a message is retransmitted when no acknowledgement arrives.
         *
         * @param count 0 to 7
         * @return this builder
         * @throws IllegalArgumentException when it is outside this range
         */
        public Builder retryCount(int count) {
            retryCount = inRange("retry count", count, MOST_RETRIES);
            return this;
        }

        /**
         * Sets how often a message is retransmitted when the peer has no receive posted.
         *
         * @param count 0 to 6; 7 for no limit
         * @return this builder
         * @throws IllegalArgumentException when it is outside the range from 0 to 7
         */
        public Builder rnrRetryCount(int count) {
            rnrRetryCount = inRange("RNR retry count", count, MOST_RETRIES);
            return this;
        }

        /**
         * Sets whether a queue pair that was not created by the id has a shared receive queue.
         *
         * @param on whether it has; the default is false
         * @return this builder
         */
        public Builder sharedReceiveQueue(boolean on) {
            sharedReceiveQueue = on;
            return this;
        }

        /**
         * Sets the number of a queue pair that was not created by the id.
         *
         * @param number the number, unsigned; 0 when the id has created a queue pair
         * @return this builder
         */
        public Builder queuePairNumber(int number) {
            queuePairNumber = number;
            return this;
        }

        /** {@return the parameters} */
        public ConnectionParameters build() {
            return new ConnectionParameters(this);
        }

        private static int inRange(String name, int value, int most) {
            if (value < 0 || value > most) {
                throw new IllegalArgumentException(name + " must be from 0 to " + most + ", not " + value);
            }
            return value;
        }
    }
}
