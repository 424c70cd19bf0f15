// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Reported;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Attributes of a queue pair, to be set or as returned by a query ({@code struct ibv_qp_attr} together with its mask,
 * ibv_modify_qp(3) and ibv_query_qp(3)). Immutable. The object knows which attributes are present; there is no separate
 * mask. Accessors throw IllegalStateException if the attribute is not present.
 *
 * <p>{@link QueuePairTransitions} has a factory for each transition from RESET to RTS, for each transport; the
 * transitions that all transports share are here. {@link #builder()} accepts any combination of attributes;
 * {@link io.rdmacm.verbs.QueuePair#modify QueuePair.modify} checks whether it suits the type and the state of the queue
 * pair.
 */
public final class QueuePairAttributes {
    private final Map<QueuePairAttribute, Object> values;

    private QueuePairAttributes(Map<QueuePairAttribute, Object> values) {
        this.values = Collections.unmodifiableMap(values);
    }

    /**
     * Returns what a driver has reported, which need not be in the range that can be set.
     *
     * @param reported the values
     * @return the attributes
     * @hidden
     */
    @SuppressWarnings("exports") // so that only this library can call it
    public static QueuePairAttributes of(Reported<QueuePairAttribute> reported) {
        return new QueuePairAttributes(new EnumMap<>(reported.values()));
    }

    /** {@return a builder with no attributes set} */
    public static Builder builder() {
        return new Builder(new EnumMap<>(QueuePairAttribute.class));
    }

    /** {@return the transition from any state to ERROR: all posted work requests complete with WR_FLUSH_ERR} */
    public static QueuePairAttributes toError() {
        return builder().state(QueuePairState.ERROR).build();
    }

    /** {@return the transition from any state to RESET: posted work requests are discarded without completions} */
    public static QueuePairAttributes toReset() {
        return builder().state(QueuePairState.RESET).build();
    }

    /**
     * Returns the transition from RTS to SQD: work requests that were not started yet are held back.
     *
     * @param notify whether the async event SQ_DRAINED is raised when all started work requests have completed
     * @return the attributes
     */
    public static QueuePairAttributes rtsToSqd(boolean notify) {
        return builder().state(QueuePairState.SQD).notifyWhenDrained(notify).build();
    }

    /** {@return the transition from SQD to RTS: sending resumes} */
    public static QueuePairAttributes sqdToRts() {
        return builder().state(QueuePairState.RTS).build();
    }

    /** {@return the transition from SQE to RTS: sending resumes after a send error, for unreliable transports} */
    public static QueuePairAttributes sqeToRts() {
        return builder().state(QueuePairState.RTS).build();
    }

    /**
     * Returns a change of the path migration state, in RTS.
     *
     * @param state MIGRATED to migrate to the alternate path now, or REARM to arm a new alternate path
     * @return the attributes
     */
    public static QueuePairAttributes migrate(PathMigrationState state) {
        return builder().state(QueuePairState.RTS).pathMigrationState(state).build();
    }

    /** {@return a builder that starts with these attributes} */
    public Builder toBuilder() {
        Builder builder = builder();
        builder.values.putAll(values);
        return builder;
    }

    /** {@return the attributes that are present} */
    public Set<QueuePairAttribute> present() {
        return values.keySet();
    }

    /**
     * Returns whether an attribute is present.
     *
     * @param attribute the attribute
     * @return whether its accessor returns a value
     */
    public boolean has(QueuePairAttribute attribute) {
        return values.containsKey(attribute);
    }

    /** Returns the value of an attribute. */
    private Object get(QueuePairAttribute attribute) {
        Object value = values.get(attribute);
        if (value == null) {
            throw new IllegalStateException(attribute + " is not among the attributes: " + this);
        }
        return value;
    }

    private int number(QueuePairAttribute attribute) {
        return (Integer) get(attribute);
    }

    /** {@return the state to move to, or the state of the queue pair in a query} */
    public QueuePairState state() {
        return (QueuePairState) get(QueuePairAttribute.STATE);
    }

    /** {@return the state that the queue pair is assumed to be in} */
    public QueuePairState currentState() {
        return (QueuePairState) get(QueuePairAttribute.CUR_STATE);
    }

    /** {@return whether the async event SQ_DRAINED is raised when the send queue is drained} */
    public boolean notifyWhenDrained() {
        return (Boolean) get(QueuePairAttribute.EN_SQD_ASYNC_NOTIFY);
    }

    /** {@return the remote operations that are allowed} */
    @SuppressWarnings("unchecked")
    public Set<AccessFlag> accessFlags() {
        return (Set<AccessFlag>) get(QueuePairAttribute.ACCESS_FLAGS);
    }

    /** {@return the index of the partition key in the table of the port} */
    public int partitionKeyIndex() {
        return number(QueuePairAttribute.PKEY_INDEX);
    }

    /** {@return the number of the local port, starting at 1} */
    public int port() {
        return number(QueuePairAttribute.PORT);
    }

    /** {@return the queue key (Q_Key) of datagrams, an unsigned 32-bit number} */
    public int queueKey() {
        return number(QueuePairAttribute.QKEY);
    }

    /** {@return the address vector of the peer} */
    public AddressAttributes path() {
        return (AddressAttributes) get(QueuePairAttribute.AV);
    }

    /** {@return the path MTU in bytes; 0 if none has been set} */
    public int pathMtu() {
        return number(QueuePairAttribute.PATH_MTU);
    }

    /** {@return how long to wait for an acknowledgement before a packet is retransmitted} */
    public AckTimeout timeout() {
        return (AckTimeout) get(QueuePairAttribute.TIMEOUT);
    }

    /** {@return the number of retransmissions before the connection is considered broken: 0 to 7} */
    public int retryCount() {
        return number(QueuePairAttribute.RETRY_CNT);
    }

    /** {@return the number of retransmissions to a peer that has no receive posted: 0 to 6, or 7 for no limit} */
    public int rnrRetry() {
        return number(QueuePairAttribute.RNR_RETRY);
    }

    /** {@return the initial packet sequence number (PSN) of the receive queue, 24 bits} */
    public int receivePacketNumber() {
        return number(QueuePairAttribute.RQ_PSN);
    }

    /** {@return the number of RDMA reads and atomics that may be outstanding as the initiator} */
    public int maxReadAtomic() {
        return number(QueuePairAttribute.MAX_QP_RD_ATOMIC);
    }

    /** {@return the alternate path} */
    public AlternatePath alternatePath() {
        return (AlternatePath) get(QueuePairAttribute.ALT_PATH);
    }

    /** {@return how long the peer has to wait before it retransmits if no receive is posted} */
    public RnrTimer minRnrTimer() {
        return (RnrTimer) get(QueuePairAttribute.MIN_RNR_TIMER);
    }

    /** {@return the initial packet sequence number (PSN) of the send queue, 24 bits} */
    public int sendPacketNumber() {
        return number(QueuePairAttribute.SQ_PSN);
    }

    /** {@return the number of RDMA reads and atomics that may be outstanding as the target} */
    public int maxDestinationReadAtomic() {
        return number(QueuePairAttribute.MAX_DEST_RD_ATOMIC);
    }

    /** {@return the path migration state} */
    public PathMigrationState pathMigrationState() {
        return (PathMigrationState) get(QueuePairAttribute.PATH_MIG_STATE);
    }

    /** {@return the capacities of the queues} */
    public QueuePairCapabilities capabilities() {
        return (QueuePairCapabilities) get(QueuePairAttribute.CAP);
    }

    /** {@return the number of the queue pair of the peer, 24 bits} */
    public int destinationQueuePair() {
        return number(QueuePairAttribute.DEST_QPN);
    }

    /** {@return the rate limit in kbit/s} */
    public int rateLimit() {
        return number(QueuePairAttribute.RATE_LIMIT);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof QueuePairAttributes attributes && values.equals(attributes.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return "QueuePairAttributes" + values;
    }

    /**
     * Builds {@link QueuePairAttributes}; each attribute that is set becomes part of the mask. Setters check the range
     * at once. Not thread-safe.
     */
    public static final class Builder {
        private static final int PACKET_NUMBER_BITS = 24;
        private static final int TIMER_BITS = 5;
        private static final int RETRY_BITS = 3;

        private final EnumMap<QueuePairAttribute, Object> values;

        private Builder(EnumMap<QueuePairAttribute, Object> values) {
            this.values = values;
        }

        private Builder put(QueuePairAttribute attribute, Object value) {
            values.put(attribute, Objects.requireNonNull(value, attribute.name()));
            return this;
        }

        private Builder put(QueuePairAttribute attribute, String name, int value, int bits) {
            Arguments.requireBits(name, value, bits);
            return put(attribute, value);
        }

        /**
         * Sets the state to move to. Without it, the state does not change.
         *
         * @param state the next state
         * @return this builder
         */
        public Builder state(QueuePairState state) {
            return put(QueuePairAttribute.STATE, state);
        }

        /**
         * Sets the state that the queue pair is assumed to be in.
         *
         * @param state the current state
         * @return this builder
         */
        public Builder currentState(QueuePairState state) {
            return put(QueuePairAttribute.CUR_STATE, state);
        }

        /**
         * Sets whether the async event SQ_DRAINED is raised when the send queue is drained.
         *
         * @param on whether it is raised
         * @return this builder
         */
        public Builder notifyWhenDrained(boolean on) {
            return put(QueuePairAttribute.EN_SQD_ASYNC_NOTIFY, on);
        }

        /**
         * Sets the remote operations that are allowed.
         *
         * @param flags any of REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC; none to allow no remote operation
         * @return this builder
         */
        public Builder accessFlags(AccessFlag... flags) {
            Set<AccessFlag> set = EnumSet.noneOf(AccessFlag.class);
            set.addAll(Arrays.asList(flags));
            return put(QueuePairAttribute.ACCESS_FLAGS, Collections.unmodifiableSet(set));
        }

        /**
         * Sets the index of the partition key in the table of the port.
         *
         * @param index 16 bits
         * @return this builder
         * @throws IllegalArgumentException if the index does not fit into 16 bits
         */
        public Builder partitionKeyIndex(int index) {
            return put(QueuePairAttribute.PKEY_INDEX, "partition key index", index, Short.SIZE);
        }

        /**
         * Sets the local port.
         *
         * @param number the number of the port, starting at 1
         * @return this builder
         * @throws IllegalArgumentException if the number does not fit into 8 bits
         */
        public Builder port(int number) {
            return put(QueuePairAttribute.PORT, "port", number, Byte.SIZE);
        }

        /**
         * Sets the queue key (Q_Key) of datagrams.
         *
         * @param key any 32 bits
         * @return this builder
         */
        public Builder queueKey(int key) {
            return put(QueuePairAttribute.QKEY, key);
        }

        /**
         * Sets the address vector of the peer.
         *
         * @param path the address vector
         * @return this builder
         */
        public Builder path(AddressAttributes path) {
            return put(QueuePairAttribute.AV, path);
        }

        /**
         * Sets the path MTU.
         *
         * @param bytes 256, 512, 1024, 2048 or 4096
         * @return this builder
         * @throws IllegalArgumentException if it is any other number
         */
        public Builder pathMtu(int bytes) {
            if (Integer.bitCount(bytes) != 1 || bytes < 256 || bytes > 4096) {
                throw new IllegalArgumentException("the path MTU must be 256, 512, 1024, 2048 or 4096, not " + bytes);
            }
            return put(QueuePairAttribute.PATH_MTU, bytes);
        }

        /**
         * Sets how long to wait for an acknowledgement before a packet is retransmitted.
         *
         * @param timeout the timeout
         * @return this builder
         * @throws IllegalArgumentException if its code is above 31
         */
        public Builder timeout(AckTimeout timeout) {
            Arguments.requireBits("code of the acknowledgement timeout", timeout.code(), TIMER_BITS);
            return put(QueuePairAttribute.TIMEOUT, timeout);
        }

        /**
         * Sets how long to wait for an acknowledgement, rounded up as by {@link AckTimeout#atLeast}.
         *
         * @param timeout greater than zero and at most 8796.093022208 seconds
         * @return this builder
         * @throws IllegalArgumentException if the duration is zero, negative, or longer than the longest timeout
         */
        public Builder timeout(Duration timeout) {
            return timeout(AckTimeout.atLeast(timeout));
        }

        /**
         * Sets the number of retransmissions before the connection is considered broken.
         *
         * @param count 0 to 7
         * @return this builder
         * @throws IllegalArgumentException if the number is not from 0 to 7
         */
        public Builder retryCount(int count) {
            return put(QueuePairAttribute.RETRY_CNT, "retry count", count, RETRY_BITS);
        }

        /**
         * Sets the number of retransmissions to a peer that has no receive posted.
         *
         * @param count 0 to 6, or 7 for no limit
         * @return this builder
         * @throws IllegalArgumentException if the number is not from 0 to 7
         */
        public Builder rnrRetry(int count) {
            return put(QueuePairAttribute.RNR_RETRY, "RNR retry count", count, RETRY_BITS);
        }

        /**
         * Sets the initial packet sequence number (PSN) of the receive queue: the one that the peer sends first.
         *
         * @param number 24 bits
         * @return this builder
         * @throws IllegalArgumentException if the number does not fit into 24 bits
         */
        public Builder receivePacketNumber(int number) {
            return put(QueuePairAttribute.RQ_PSN, "packet number", number, PACKET_NUMBER_BITS);
        }

        /**
         * Sets the number of RDMA reads and atomics that may be outstanding as the initiator.
         *
         * @param count 0 to 255
         * @return this builder
         * @throws IllegalArgumentException if the number is not from 0 to 255
         */
        public Builder maxReadAtomic(int count) {
            return put(QueuePairAttribute.MAX_QP_RD_ATOMIC, "number of reads and atomics", count, Byte.SIZE);
        }

        /**
         * Sets the alternate path.
         *
         * @param path the path to migrate to
         * @return this builder
         */
        public Builder alternatePath(AlternatePath path) {
            return put(QueuePairAttribute.ALT_PATH, path);
        }

        /**
         * Sets how long the peer has to wait before it retransmits if no receive is posted.
         *
         * @param timer the minimum RNR NAK timer
         * @return this builder
         * @throws IllegalArgumentException if its code is above 31
         */
        public Builder minRnrTimer(RnrTimer timer) {
            Arguments.requireBits("code of the RNR timer", timer.code(), TIMER_BITS);
            return put(QueuePairAttribute.MIN_RNR_TIMER, timer);
        }

        /**
         * Sets how long the peer has to wait if no receive is posted, rounded up as by {@link RnrTimer#atLeast}.
         *
         * @param timer greater than zero and at most 655.36 milliseconds
         * @return this builder
         * @throws IllegalArgumentException if the duration is zero, negative, or longer than the longest timer
         */
        public Builder minRnrTimer(Duration timer) {
            return minRnrTimer(RnrTimer.atLeast(timer));
        }

        /**
         * Sets the initial packet sequence number (PSN) of the send queue.
         *
         * @param number 24 bits
         * @return this builder
         * @throws IllegalArgumentException if the number does not fit into 24 bits
         */
        public Builder sendPacketNumber(int number) {
            return put(QueuePairAttribute.SQ_PSN, "packet number", number, PACKET_NUMBER_BITS);
        }

        /**
         * Sets the number of RDMA reads and atomics that may be outstanding as the target.
         *
         * @param count 0 to 255
         * @return this builder
         * @throws IllegalArgumentException if the number is not from 0 to 255
         */
        public Builder maxDestinationReadAtomic(int count) {
            return put(QueuePairAttribute.MAX_DEST_RD_ATOMIC, "number of reads and atomics", count, Byte.SIZE);
        }

        /**
         * Sets the path migration state.
         *
         * @param state MIGRATED or REARM; a queue pair becomes ARMED by itself
         * @return this builder
         */
        public Builder pathMigrationState(PathMigrationState state) {
            return put(QueuePairAttribute.PATH_MIG_STATE, state);
        }

        /**
         * Sets the capacities of the queues, on devices that can resize them.
         *
         * @param sizes the new capacities
         * @return this builder
         */
        public Builder capabilities(QueuePairCapabilities sizes) {
            return put(QueuePairAttribute.CAP, sizes);
        }

        /**
         * Sets the number of the queue pair of the peer.
         *
         * @param number 24 bits
         * @return this builder
         * @throws IllegalArgumentException if the number does not fit into 24 bits
         */
        public Builder destinationQueuePair(int number) {
            return put(QueuePairAttribute.DEST_QPN, "queue pair number", number, PACKET_NUMBER_BITS);
        }

        /**
         * Sets the rate limit for packet pacing.
         *
         * @param kilobitsPerSecond the limit in kbit/s; 0 for no limit
         * @return this builder
         */
        public Builder rateLimit(int kilobitsPerSecond) {
            return put(QueuePairAttribute.RATE_LIMIT, kilobitsPerSecond);
        }

        /** {@return the attributes that have been set} */
        public QueuePairAttributes build() {
            return new QueuePairAttributes(new EnumMap<>(values));
        }
    }
}
