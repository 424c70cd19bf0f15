// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendOperation;

/**
 * What a queue pair is made with ({@code struct ibv_qp_init_attr_ex}, ibv_create_qp_ex(3)). Immutable.
 *
 * @param type the transport service
 * @param sendQueue where finished send work requests are reported; null for {@code XRC_RECV}, and may be with receive
 *        side scaling: then it sends nothing
 * @param receiveQueue where finished receive work requests are reported; may be the same; null for {@code XRC_RECV}
 *        and with receive side scaling, and may be for {@code XRC_SEND}
 * @param capabilities its sizes; the device may give more; those of a queue that it has not do not count
 * @param signalAll whether every send work request gives a completion, whatever its flag says ({@code sq_sig_all})
 * @param sharedReceiveQueue where its receives are posted instead of to itself
 * @param createFlags how it is made
 * @param maxTsoHeader how many bytes of headers a segmented send (TSO) may have; 0 for none
 * @param sourceQueuePair the number of the queue pair in whose name it sends; 24 bits
 * @param sendOperations what the extended send interface ({@code ibv_wr_*}) is to offer; empty for none of it
 * @param receiveSideScaling how it spreads what it receives over work queues, instead of having a receive queue
 */
public record QueuePairInitAttributes(QueuePairType type, CompletionQueue sendQueue, CompletionQueue receiveQueue,
        QueuePairCapabilities capabilities, boolean signalAll, Optional<SharedReceiveQueue> sharedReceiveQueue,
        Set<QueuePairCreateFlag> createFlags, int maxTsoHeader, OptionalInt sourceQueuePair,
        Set<SendOperation> sendOperations, Optional<ReceiveSideScaling> receiveSideScaling) {
    private static final int NUMBER_BITS = 24;

    /** Refuses null, and numbers that do not fit into their fields. */
    public QueuePairInitAttributes {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(sharedReceiveQueue, "sharedReceiveQueue");
        Objects.requireNonNull(receiveSideScaling, "receiveSideScaling");
        if (type == QueuePairType.XRC_RECV) {
            if (sendQueue != null || receiveQueue != null || sharedReceiveQueue.isPresent()) {
                throw new IllegalArgumentException("a queue pair of type XRC_RECV has neither completion queues nor a"
                        + " shared receive queue: the messages name their queue");
            }
        } else if (receiveSideScaling.isEmpty()) {
            Objects.requireNonNull(sendQueue, "sendQueue");
        }
        if (receiveSideScaling.isPresent()) {
            requireNoReceives(type, receiveQueue, sharedReceiveQueue);
            if (sendQueue == null && (maxTsoHeader > 0 || !sendOperations.isEmpty())) {
                throw new IllegalArgumentException("without a send completion queue there is nothing to send, neither"
                        + " with operations " + sendOperations + " nor segmented");
            }
        } else if (type != QueuePairType.XRC_RECV && type != QueuePairType.XRC_SEND) {
            Objects.requireNonNull(receiveQueue, "receiveQueue");
        }
        Objects.requireNonNull(capabilities, "capabilities");
        Arguments.requireBits("size of TSO headers", maxTsoHeader, Short.SIZE);
        sourceQueuePair.ifPresent(number -> Arguments.requireBits("source queue pair", number, NUMBER_BITS));
        Set<QueuePairCreateFlag> flags = ordered(QueuePairCreateFlag.class, createFlags);
        if (flags.contains(QueuePairCreateFlag.SOURCE_QPN) != sourceQueuePair.isPresent()) {
            throw new IllegalArgumentException("SOURCE_QPN and the number of the source queue pair come together: "
                    + flags + ", " + sourceQueuePair);
        }
        createFlags = flags;
        sendOperations = ordered(SendOperation.class, sendOperations);
    }

    private static void requireNoReceives(QueuePairType type, CompletionQueue queue,
            Optional<SharedReceiveQueue> shared) {
        if (type == QueuePairType.XRC_RECV || type == QueuePairType.XRC_SEND) {
            throw new IllegalArgumentException("a queue pair of type " + type + " has no receive side scaling");
        }
        if (queue != null || shared.isPresent()) {
            throw new IllegalArgumentException("a queue pair with receive side scaling has neither a receive"
                    + " completion queue nor a shared receive queue: its work queues have theirs");
        }
    }

    private static <E extends Enum<E>> Set<E> ordered(Class<E> type, Collection<E> values) {
        Set<E> set = EnumSet.noneOf(type);
        set.addAll(values);
        return Collections.unmodifiableSet(set);
    }

    /** The same with a shared receive queue. */
    public QueuePairInitAttributes withSharedReceiveQueue(SharedReceiveQueue queue) {
        return new QueuePairInitAttributes(type, sendQueue, receiveQueue, capabilities, signalAll, Optional.of(queue),
                createFlags, maxTsoHeader, sourceQueuePair, sendOperations, receiveSideScaling);
    }

    /** Begins with a reliable connection of 16 sends and 16 receives, one scatter/gather entry each, nothing inline. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether there is something in it that only {@code ibv_create_qp_ex} takes. */
    public boolean isExtended() {
        return type == QueuePairType.XRC_RECV || !createFlags.isEmpty() || maxTsoHeader > 0
                || !sendOperations.isEmpty() || receiveSideScaling.isPresent();
    }

    /** Whether it has a receive queue of its own. */
    boolean hasReceives() {
        return type != QueuePairType.XRC_RECV && type != QueuePairType.XRC_SEND && sharedReceiveQueue.isEmpty()
                && receiveSideScaling.isEmpty();
    }

    /** Its sizes, with zeros for a queue that it has not because of receive side scaling. */
    QueuePairCapabilities ownCapabilities() {
        if (receiveSideScaling.isEmpty()) {
            return capabilities;
        }
        return sendQueue == null ? new QueuePairCapabilities(0, 0, 0, 0, 0)
                : new QueuePairCapabilities(capabilities.maxSendRequests(), 0, capabilities.maxSendScatterGather(), 0,
                        capabilities.maxInlineData());
    }

    /** The same with what the device tells of it. */
    QueuePairInitAttributes with(QueuePairCapabilities sizes, boolean signalsAll) {
        return new QueuePairInitAttributes(type, sendQueue, receiveQueue, sizes, signalsAll, sharedReceiveQueue,
                createFlags, maxTsoHeader, sourceQueuePair, sendOperations, receiveSideScaling);
    }

    /** Makes {@link QueuePairInitAttributes}; every value but the completion queues has a default. */
    public static final class Builder {
        private QueuePairType type = QueuePairType.RC;
        private CompletionQueue sendQueue;
        private CompletionQueue receiveQueue;
        private int maxSendRequests = 16;
        private int maxReceiveRequests = 16;
        private int maxSendScatterGather = 1;
        private int maxReceiveScatterGather = 1;
        private int maxInlineData;
        private boolean signalAll;
        private SharedReceiveQueue sharedReceiveQueue;
        private final Set<QueuePairCreateFlag> createFlags = EnumSet.noneOf(QueuePairCreateFlag.class);
        private int maxTsoHeader;
        private OptionalInt sourceQueuePair = OptionalInt.empty();
        private final Set<SendOperation> sendOperations = EnumSet.noneOf(SendOperation.class);
        private ReceiveSideScaling receiveSideScaling;

        private Builder() {
        }

        /** The transport service. */
        public Builder type(QueuePairType value) {
            type = value;
            return this;
        }

        /** One completion queue for sends and receives. */
        public Builder completionQueue(CompletionQueue queue) {
            return sendQueue(queue).receiveQueue(queue);
        }

        /** Where finished send work requests are reported. */
        public Builder sendQueue(CompletionQueue queue) {
            sendQueue = queue;
            return this;
        }

        /** Where finished receive work requests are reported. */
        public Builder receiveQueue(CompletionQueue queue) {
            receiveQueue = queue;
            return this;
        }

        /** How many send work requests can be outstanding. */
        public Builder maxSendRequests(int count) {
            maxSendRequests = count;
            return this;
        }

        /** How many receive work requests can be outstanding. */
        public Builder maxReceiveRequests(int count) {
            maxReceiveRequests = count;
            return this;
        }

        /** How many scatter/gather entries a send work request may have. */
        public Builder maxSendScatterGather(int count) {
            maxSendScatterGather = count;
            return this;
        }

        /** How many scatter/gather entries a receive work request may have. */
        public Builder maxReceiveScatterGather(int count) {
            maxReceiveScatterGather = count;
            return this;
        }

        /** How many bytes a send work request can carry inline. */
        public Builder maxInlineData(int bytes) {
            maxInlineData = bytes;
            return this;
        }

        /** Whether every send work request gives a completion, whatever its flag says. */
        public Builder signalAll(boolean on) {
            signalAll = on;
            return this;
        }

        /** Where its receives are posted instead of to itself; the sizes of its own receive queue do not count. */
        public Builder sharedReceiveQueue(SharedReceiveQueue queue) {
            sharedReceiveQueue = queue;
            return this;
        }

        /** How it is made; these, beside those given before. */
        public Builder createFlags(QueuePairCreateFlag... flags) {
            createFlags.addAll(Arrays.asList(flags));
            return this;
        }

        /** How many bytes of headers a segmented send (TSO) may have. */
        public Builder maxTsoHeader(int bytes) {
            maxTsoHeader = bytes;
            return this;
        }

        /** The number of the queue pair in whose name it sends; with it comes the flag {@code SOURCE_QPN}. */
        public Builder sourceQueuePair(int number) {
            sourceQueuePair = OptionalInt.of(number);
            return createFlags(QueuePairCreateFlag.SOURCE_QPN);
        }

        /** What the extended send interface ({@code ibv_wr_*}) is to offer; these, beside those given before. */
        public Builder sendOperations(Collection<SendOperation> operations) {
            sendOperations.addAll(operations);
            return this;
        }

        /**
         * How it spreads what it receives over work queues; without a receive completion queue, and without one for
         * sends when it sends nothing. The sizes of queues that it has not do not count.
         */
        public Builder receiveSideScaling(ReceiveSideScaling scaling) {
            receiveSideScaling = scaling;
            return this;
        }

        /**
         * The attributes.
         *
         * @throws NullPointerException when a completion queue is missing
         * @throws IllegalArgumentException when a number is negative or too large, or something is given that the type
         *         does not have
         */
        public QueuePairInitAttributes build() {
            return new QueuePairInitAttributes(type, sendQueue, receiveQueue, new QueuePairCapabilities(
                    maxSendRequests, maxReceiveRequests, maxSendScatterGather, maxReceiveScatterGather, maxInlineData),
                    signalAll, Optional.ofNullable(sharedReceiveQueue), createFlags, maxTsoHeader, sourceQueuePair,
                    sendOperations, Optional.ofNullable(receiveSideScaling));
        }
    }
}
