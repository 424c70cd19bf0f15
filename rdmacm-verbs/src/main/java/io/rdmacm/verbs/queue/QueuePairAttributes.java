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

import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * What a queue pair is brought to, or was found in ({@code struct ibv_qp_attr} with its mask, ibv_modify_qp(3)).
 * Immutable. It knows which values it has, so there is no mask to be kept beside it.
 *
 * <p>For the ways from RESET to RTS there is a factory for each step and transport in {@link QueuePairTransitions}; the
 * steps that all have in common are here. {@link #builder()} takes anything; whether it is right for the queue pair and
 * its state is found out by {@link QueuePair#modify}.
 */
public final class QueuePairAttributes {
    private final Map<QueuePairAttribute, Object> values;

    /**
     * Values as a driver reported them.
     *
     * @param values by attribute, each of the type that its accessor returns
     */
    public QueuePairAttributes(Map<QueuePairAttribute, Object> values) {
        this.values = Collections.unmodifiableMap(values);
    }

    /** Begins with nothing. */
    public static Builder builder() {
        return new Builder(new EnumMap<>(QueuePairAttribute.class));
    }

    /** From any state to ERROR: all posted work completes with WR_FLUSH_ERR. */
    public static QueuePairAttributes toError() {
        return builder().state(QueuePairState.ERROR).build();
    }

    /** From any state to RESET: what was posted is forgotten, and the way to RTS begins again. */
    public static QueuePairAttributes toReset() {
        return builder().state(QueuePairState.RESET).build();
    }

    /**
     * From RTS to SQD: nothing more is sent.
     *
     * @param notify whether the async event SQ_DRAINED comes when what was begun is done
     */
    public static QueuePairAttributes rtsToSqd(boolean notify) {
        return builder().state(QueuePairState.SQD).notifyWhenDrained(notify).build();
    }

    /** From SQD to RTS: sends go on. */
    public static QueuePairAttributes sqdToRts() {
        return builder().state(QueuePairState.RTS).build();
    }

    /** From SQE to RTS: sends go on after an error, of unreliable transports. */
    public static QueuePairAttributes sqeToRts() {
        return builder().state(QueuePairState.RTS).build();
    }

    /**
     * In RTS: changes how it goes over to its alternate path. MIGRATED goes over now, REARM arms a new alternate path.
     *
     * @param state MIGRATED or REARM
     */
    public static QueuePairAttributes migrate(PathMigrationState state) {
        return builder().state(QueuePairState.RTS).pathMigrationState(state).build();
    }

    /** Begins with these values, for more of them. */
    public Builder toBuilder() {
        Builder builder = builder();
        builder.values.putAll(values);
        return builder;
    }

    /** Which values it has. */
    public Set<QueuePairAttribute> present() {
        return values.keySet();
    }

    /** Whether it has a value. */
    public boolean has(QueuePairAttribute attribute) {
        return values.containsKey(attribute);
    }

    /**
     * A value, of the type that its own accessor returns.
     *
     * @throws IllegalStateException if it is not present
     */
    public Object get(QueuePairAttribute attribute) {
        Object value = values.get(attribute);
        if (value == null) {
            throw new IllegalStateException(attribute + " is not among the attributes: " + this);
        }
        return value;
    }

    private int number(QueuePairAttribute attribute) {
        return (Integer) get(attribute);
    }

    // All that follow throw IllegalStateException when the value is not there.

    /** The state that it goes to, or is in. */
    public QueuePairState state() {
        return (QueuePairState) get(QueuePairAttribute.STATE);
    }

    /** The state that it is assumed to be in. */
    public QueuePairState currentState() {
        return (QueuePairState) get(QueuePairAttribute.CUR_STATE);
    }

    /** Whether an async event tells that the send queue is drained. */
    public boolean notifyWhenDrained() {
        return (Boolean) get(QueuePairAttribute.EN_SQD_ASYNC_NOTIFY);
    }

    /** What peers may do. */
    @SuppressWarnings("unchecked")
    public Set<AccessFlag> accessFlags() {
        return (Set<AccessFlag>) get(QueuePairAttribute.ACCESS_FLAGS);
    }

    /** The index of the partition key in the table of the port. */
    public int partitionKeyIndex() {
        return number(QueuePairAttribute.PKEY_INDEX);
    }

    /** The port of the device, from 1 on. */
    public int port() {
        return number(QueuePairAttribute.PORT);
    }

    /** The queue key of datagrams; an unsigned number. */
    public int queueKey() {
        return number(QueuePairAttribute.QKEY);
    }

    /** The way to the peer. */
    public AddressAttributes path() {
        return (AddressAttributes) get(QueuePairAttribute.AV);
    }

    /** The largest packet of the path in bytes; 0 when none was set. */
    public int pathMtu() {
        return number(QueuePairAttribute.PATH_MTU);
    }

    /** Returns how long an acknowledgement is waited for before a packet is sent again. */
    public AckTimeout timeout() {
        return (AckTimeout) get(QueuePairAttribute.TIMEOUT);
    }

    /** How often a packet is sent again. */
    public int retryCount() {
        return number(QueuePairAttribute.RETRY_CNT);
    }

    /** How often it is sent again to a peer without a receive; 7 without end. */
    public int rnrRetry() {
        return number(QueuePairAttribute.RNR_RETRY);
    }

    /** The first packet number to receive. */
    public int receivePacketNumber() {
        return number(QueuePairAttribute.RQ_PSN);
    }

    /** How many reads and atomics this side has under way. */
    public int maxReadAtomic() {
        return number(QueuePairAttribute.MAX_QP_RD_ATOMIC);
    }

    /** The alternate path. */
    public AlternatePath alternatePath() {
        return (AlternatePath) get(QueuePairAttribute.ALT_PATH);
    }

    /** Returns how long a peer waits before it sends again when there is no receive. */
    public RnrTimer minRnrTimer() {
        return (RnrTimer) get(QueuePairAttribute.MIN_RNR_TIMER);
    }

    /** The first packet number to send. */
    public int sendPacketNumber() {
        return number(QueuePairAttribute.SQ_PSN);
    }

    /** How many reads and atomics of the peer are taken at a time. */
    public int maxDestinationReadAtomic() {
        return number(QueuePairAttribute.MAX_DEST_RD_ATOMIC);
    }

    /** How it goes over to the alternate path. */
    public PathMigrationState pathMigrationState() {
        return (PathMigrationState) get(QueuePairAttribute.PATH_MIG_STATE);
    }

    /** The sizes. */
    public QueuePairCapabilities capabilities() {
        return (QueuePairCapabilities) get(QueuePairAttribute.CAP);
    }

    /** The number of the peer's queue pair. */
    public int destinationQueuePair() {
        return number(QueuePairAttribute.DEST_QPN);
    }

    /** The rate of packets in kbit/s. */
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

    /** Makes {@link QueuePairAttributes}; each value that is set is part of the mask. */
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

        /** The state that it goes to; without one it stays in the state it is in. */
        public Builder state(QueuePairState state) {
            return put(QueuePairAttribute.STATE, state);
        }

        /** The state that it is assumed to be in. */
        public Builder currentState(QueuePairState state) {
            return put(QueuePairAttribute.CUR_STATE, state);
        }

        /** Whether the async event SQ_DRAINED tells that the send queue is drained. */
        public Builder notifyWhenDrained(boolean on) {
            return put(QueuePairAttribute.EN_SQD_ASYNC_NOTIFY, on);
        }

        /** What peers may do: of remote write, read, and atomic. */
        public Builder accessFlags(AccessFlag... flags) {
            Set<AccessFlag> set = EnumSet.noneOf(AccessFlag.class);
            set.addAll(Arrays.asList(flags));
            return put(QueuePairAttribute.ACCESS_FLAGS, Collections.unmodifiableSet(set));
        }

        /** The index of the partition key in the table of the port: 16 bits. */
        public Builder partitionKeyIndex(int index) {
            return put(QueuePairAttribute.PKEY_INDEX, "partition key index", index, Short.SIZE);
        }

        /** The port of the device, from 1 on. */
        public Builder port(int number) {
            return put(QueuePairAttribute.PORT, "port", number, Byte.SIZE);
        }

        /** The queue key of datagrams: any 32 bits. */
        public Builder queueKey(int key) {
            return put(QueuePairAttribute.QKEY, key);
        }

        /** The way to the peer. */
        public Builder path(AddressAttributes path) {
            return put(QueuePairAttribute.AV, path);
        }

        /** The largest packet of the path in bytes: 256, 512, 1024, 2048 or 4096. */
        public Builder pathMtu(int bytes) {
            if (Integer.bitCount(bytes) != 1 || bytes < 256 || bytes > 4096) {
                throw new IllegalArgumentException("the path MTU must be 256, 512, 1024, 2048 or 4096, not " + bytes);
            }
            return put(QueuePairAttribute.PATH_MTU, bytes);
        }

        /**
         * Sets how long an acknowledgement is waited for before a packet is sent again.
         *
         * @throws IllegalArgumentException when its code is above 31
         */
        public Builder timeout(AckTimeout timeout) {
            Arguments.requireBits("code of the acknowledgement timeout", timeout.code(), TIMER_BITS);
            return put(QueuePairAttribute.TIMEOUT, timeout);
        }

        /**
         * Sets how long an acknowledgement is waited for, rounded up as {@link AckTimeout#atLeast} does.
         *
         * @throws IllegalArgumentException when the duration is zero, negative, or longer than the longest timeout
         */
        public Builder timeout(Duration timeout) {
            return timeout(AckTimeout.atLeast(timeout));
        }

        /** How often a packet is sent again: 0 to 7. */
        public Builder retryCount(int count) {
            return put(QueuePairAttribute.RETRY_CNT, "retry count", count, RETRY_BITS);
        }

        /** How often it is sent again to a peer without a receive: 0 to 6; 7 without end. */
        public Builder rnrRetry(int count) {
            return put(QueuePairAttribute.RNR_RETRY, "RNR retry count", count, RETRY_BITS);
        }

        /** The first packet number to receive: 24 bits. */
        public Builder receivePacketNumber(int number) {
            return put(QueuePairAttribute.RQ_PSN, "packet number", number, PACKET_NUMBER_BITS);
        }

        /** How many reads and atomics this side may have under way: 0 to 255. */
        public Builder maxReadAtomic(int count) {
            return put(QueuePairAttribute.MAX_QP_RD_ATOMIC, "number of reads and atomics", count, Byte.SIZE);
        }

        /** The alternate path. */
        public Builder alternatePath(AlternatePath path) {
            return put(QueuePairAttribute.ALT_PATH, path);
        }

        /**
         * Sets how long a peer waits before it sends again when there is no receive.
         *
         * @throws IllegalArgumentException when its code is above 31
         */
        public Builder minRnrTimer(RnrTimer timer) {
            Arguments.requireBits("code of the RNR timer", timer.code(), TIMER_BITS);
            return put(QueuePairAttribute.MIN_RNR_TIMER, timer);
        }

        /**
         * Sets how long a peer waits when there is no receive, rounded up as {@link RnrTimer#atLeast} does.
         *
         * @throws IllegalArgumentException when the duration is zero, negative, or longer than the longest timer
         */
        public Builder minRnrTimer(Duration timer) {
            return minRnrTimer(RnrTimer.atLeast(timer));
        }

        /** The first packet number to send: 24 bits. */
        public Builder sendPacketNumber(int number) {
            return put(QueuePairAttribute.SQ_PSN, "packet number", number, PACKET_NUMBER_BITS);
        }

        /** How many reads and atomics of the peer are taken at a time: 0 to 255. */
        public Builder maxDestinationReadAtomic(int count) {
            return put(QueuePairAttribute.MAX_DEST_RD_ATOMIC, "number of reads and atomics", count, Byte.SIZE);
        }

        /** How it goes over to the alternate path. */
        public Builder pathMigrationState(PathMigrationState state) {
            return put(QueuePairAttribute.PATH_MIG_STATE, state);
        }

        /** The sizes. */
        public Builder capabilities(QueuePairCapabilities sizes) {
            return put(QueuePairAttribute.CAP, sizes);
        }

        /** The number of the peer's queue pair: 24 bits. */
        public Builder destinationQueuePair(int number) {
            return put(QueuePairAttribute.DEST_QPN, "queue pair number", number, PACKET_NUMBER_BITS);
        }

        /** The rate of packets in kbit/s; 0 for no limit. */
        public Builder rateLimit(int kilobitsPerSecond) {
            return put(QueuePairAttribute.RATE_LIMIT, kilobitsPerSecond);
        }

        /** The attributes. */
        public QueuePairAttributes build() {
            return new QueuePairAttributes(new EnumMap<>(values));
        }
    }
}
