// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendOperation;
import org.jspecify.annotations.Nullable;

/**
 * The attributes with which a queue pair is created ({@code struct ibv_qp_init_attr_ex}, ibv_create_qp_ex(3)).
 * Immutable.
 */
public final class QueuePairInitAttributes {
    private static final int NUMBER_BITS = 24;

    private final QueuePairType type;
    private final @Nullable CompletionQueue sendCompletionQueue;
    private final @Nullable CompletionQueue receiveCompletionQueue;
    private final QueuePairCapabilities capabilities;
    private final boolean signalAll;
    private final @Nullable SharedReceiveQueue sharedReceiveQueue;
    private final Set<QueuePairCreateFlag> createFlags;
    private final int maxTsoHeader;
    private final OptionalInt sourceQueuePair;
    private final Set<SendOperation> sendOperations;
    private final @Nullable ReceiveSideScaling receiveSideScaling;

    private QueuePairInitAttributes(Builder builder, QueuePairCapabilities capabilities) {
        this.type = Objects.requireNonNull(builder.type, "type");
        this.sendCompletionQueue = builder.sendCompletionQueue;
        this.receiveCompletionQueue = builder.receiveCompletionQueue;
        this.capabilities = capabilities;
        this.signalAll = builder.signalAll;
        this.sharedReceiveQueue = builder.sharedReceiveQueue;
        this.createFlags = ordered(QueuePairCreateFlag.class, builder.createFlags);
        this.maxTsoHeader = builder.maxTsoHeader;
        this.sourceQueuePair = builder.sourceQueuePair;
        this.sendOperations = ordered(SendOperation.class, builder.sendOperations);
        this.receiveSideScaling = builder.receiveSideScaling;
        requireQueues();
        Arguments.requireBits("size of TSO headers", maxTsoHeader, Short.SIZE);
        sourceQueuePair.ifPresent(number -> Arguments.requireBits("source queue pair", number, NUMBER_BITS));
        if (createFlags.contains(QueuePairCreateFlag.SOURCE_QPN) != sourceQueuePair.isPresent()) {
            throw new IllegalArgumentException("the flag SOURCE_QPN and the source queue pair must be set together: "
                    + createFlags + ", " + sourceQueuePair);
        }
    }

    private void requireQueues() {
        if (type == QueuePairType.XRC_RECV) {
            if (sendCompletionQueue != null || receiveCompletionQueue != null || sharedReceiveQueue != null) {
                throw new IllegalArgumentException("a queue pair of type XRC_RECV has neither completion queues nor a"
                        + " shared receive queue: each message names its shared receive queue");
            }
        } else if (receiveSideScaling == null) {
            Objects.requireNonNull(sendCompletionQueue, "sendCompletionQueue");
        }
        if (receiveSideScaling != null) {
            requireNoReceives();
            if (sendCompletionQueue == null && (maxTsoHeader > 0 || !sendOperations.isEmpty())) {
                throw new IllegalArgumentException("a queue pair without a send completion queue cannot send:"
                        + " maxTsoHeader must be 0 and sendOperations empty, not " + maxTsoHeader + " and "
                        + sendOperations);
            }
        } else if (type != QueuePairType.XRC_RECV && type != QueuePairType.XRC_SEND) {
            Objects.requireNonNull(receiveCompletionQueue, "receiveCompletionQueue");
        }
    }

    private void requireNoReceives() {
        if (type == QueuePairType.XRC_RECV || type == QueuePairType.XRC_SEND) {
            throw new IllegalArgumentException("a queue pair of type " + type + " cannot use receive side scaling");
        }
        if (receiveCompletionQueue != null || sharedReceiveQueue != null) {
            throw new IllegalArgumentException("a queue pair with receive side scaling has neither a receive"
                    + " completion queue nor a shared receive queue: its work queues have their own");
        }
    }

    private static <E extends Enum<E>> Set<E> ordered(Class<E> type, Collection<E> values) {
        Set<E> set = EnumSet.noneOf(type);
        set.addAll(values);
        return Collections.unmodifiableSet(set);
    }

    /**
     * {@return a builder that starts with type RC, 16 send and 16 receive work requests, one scatter/gather entry each,
     * no inline data and no completion queues}
     */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts with these attributes} */
    public Builder toBuilder() {
        Builder builder = builder().type(type).maxSendRequests(capabilities.maxSendRequests())
                .maxReceiveRequests(capabilities.maxReceiveRequests())
                .maxSendScatterGather(capabilities.maxSendScatterGather())
                .maxReceiveScatterGather(capabilities.maxReceiveScatterGather())
                .maxInlineData(capabilities.maxInlineData()).signalAll(signalAll)
                .sharedReceiveQueue(sharedReceiveQueue).maxTsoHeader(maxTsoHeader).sendOperations(sendOperations)
                .receiveSideScaling(receiveSideScaling);
        builder.sendCompletionQueue = sendCompletionQueue;
        builder.receiveCompletionQueue = receiveCompletionQueue;
        builder.createFlags.addAll(createFlags);
        builder.sourceQueuePair = sourceQueuePair;
        return builder;
    }

    /** {@return the type, which determines the transport service} */
    public QueuePairType type() {
        return type;
    }

    /**
     * {@return the completion queue for finished send work requests; empty for type {@code XRC_RECV}; may be empty with
     * receive side scaling, and the queue pair then cannot send}
     */
    public Optional<CompletionQueue> sendCompletionQueue() {
        return Optional.ofNullable(sendCompletionQueue);
    }

    /**
     * {@return the completion queue for finished receive work requests, which may be the same; empty for type
     * {@code XRC_RECV} and with receive side scaling; may be empty for type {@code XRC_SEND}}
     */
    public Optional<CompletionQueue> receiveCompletionQueue() {
        return Optional.ofNullable(receiveCompletionQueue);
    }

    /**
     * {@return the requested sizes of the queues, which the device may exceed; the sizes of a queue that the queue pair
     * does not have are ignored}
     */
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /**
     * {@return whether every send work request generates a completion, even if it is not flagged as signaled
     * ({@code sq_sig_all})}
     */
    public boolean signalAll() {
        return signalAll;
    }

    /** {@return the shared receive queue that replaces the queue pair's own receive queue} */
    public Optional<SharedReceiveQueue> sharedReceiveQueue() {
        return Optional.ofNullable(sharedReceiveQueue);
    }

    /** {@return the creation flags} */
    public Set<QueuePairCreateFlag> createFlags() {
        return createFlags;
    }

    /** {@return the maximum size of the headers of a segmented send (TSO) in bytes, 16 bits; 0 if none is sent} */
    public int maxTsoHeader() {
        return maxTsoHeader;
    }

    /**
     * {@return the queue pair number, 24 bits, that outgoing packets carry instead of the queue pair's own; present
     * exactly if the flag {@link QueuePairCreateFlag#SOURCE_QPN} is set}
     */
    public OptionalInt sourceQueuePair() {
        return sourceQueuePair;
    }

    /** {@return the operations that a {@link SendBatch} of the queue pair may contain; empty if it uses none} */
    public Set<SendOperation> sendOperations() {
        return sendOperations;
    }

    /** {@return how received packets are distributed over work queues, which replace the receive queue} */
    public Optional<ReceiveSideScaling> receiveSideScaling() {
        return Optional.ofNullable(receiveSideScaling);
    }

    /** {@return whether these attributes need {@code ibv_create_qp_ex}; if not, {@code ibv_create_qp} suffices} */
    public boolean isExtended() {
        return type == QueuePairType.XRC_RECV || !createFlags.isEmpty() || maxTsoHeader > 0
                || !sendOperations.isEmpty() || receiveSideScaling != null;
    }

    /** Returns whether the queue pair has a receive queue of its own. */
    boolean hasReceives() {
        return type != QueuePairType.XRC_RECV && type != QueuePairType.XRC_SEND && sharedReceiveQueue == null
                && receiveSideScaling == null;
    }

    /** Returns the sizes, with zeros for queues that the queue pair does not have because of receive side scaling. */
    QueuePairCapabilities ownCapabilities() {
        if (receiveSideScaling == null) {
            return capabilities;
        }
        return sendCompletionQueue == null ? new QueuePairCapabilities(0, 0, 0, 0, 0)
                : new QueuePairCapabilities(capabilities.maxSendRequests(), 0, capabilities.maxSendScatterGather(), 0,
                        capabilities.maxInlineData());
    }

    /** Returns a copy with values that the device reports. */
    QueuePairInitAttributes with(QueuePairCapabilities sizes, boolean signalsAll) {
        return new QueuePairInitAttributes(toBuilder().signalAll(signalsAll), sizes);
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(type, sendCompletionQueue, receiveCompletionQueue, capabilities, signalAll,
                sharedReceiveQueue, createFlags, maxTsoHeader, sourceQueuePair, sendOperations, receiveSideScaling);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof QueuePairInitAttributes that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "QueuePairInitAttributes[type=" + type + ", sendCompletionQueue=" + sendCompletionQueue
                + ", receiveCompletionQueue=" + receiveCompletionQueue + ", capabilities=" + capabilities
                + ", signalAll=" + signalAll + ", sharedReceiveQueue=" + sharedReceiveQueue + ", createFlags="
                + createFlags + ", maxTsoHeader=" + maxTsoHeader + ", sourceQueuePair=" + sourceQueuePair
                + ", sendOperations=" + sendOperations + ", receiveSideScaling=" + receiveSideScaling + "]";
    }

    /** Builds {@link QueuePairInitAttributes}. All values except the completion queues have defaults. */
    public static final class Builder {
        private QueuePairType type = QueuePairType.RC;
        private @Nullable CompletionQueue sendCompletionQueue;
        private @Nullable CompletionQueue receiveCompletionQueue;
        private int maxSendRequests = 16;
        private int maxReceiveRequests = 16;
        private int maxSendScatterGather = 1;
        private int maxReceiveScatterGather = 1;
        private int maxInlineData;
        private boolean signalAll;
        private @Nullable SharedReceiveQueue sharedReceiveQueue;
        private final Set<QueuePairCreateFlag> createFlags = EnumSet.noneOf(QueuePairCreateFlag.class);
        private int maxTsoHeader;
        private OptionalInt sourceQueuePair = OptionalInt.empty();
        private final Set<SendOperation> sendOperations = EnumSet.noneOf(SendOperation.class);
        private @Nullable ReceiveSideScaling receiveSideScaling;

        private Builder() {
        }

        /**
         * Sets the type.
         *
         * @param value the type; RC by default
         * @return this builder
         */
        public Builder type(QueuePairType value) {
            type = value;
            return this;
        }

        /**
         * Sets one completion queue for both sends and receives.
         *
         * @param queue the completion queue, of the same context as the queue pair
         * @return this builder
         */
        public Builder completionQueue(CompletionQueue queue) {
            return sendCompletionQueue(queue).receiveCompletionQueue(queue);
        }

        /**
         * Sets the completion queue for finished send work requests.
         *
         * @param queue the completion queue, of the same context as the queue pair
         * @return this builder
         */
        public Builder sendCompletionQueue(CompletionQueue queue) {
            sendCompletionQueue = queue;
            return this;
        }

        /**
         * Sets the completion queue for finished receive work requests.
         *
         * @param queue the completion queue, of the same context as the queue pair
         * @return this builder
         */
        public Builder receiveCompletionQueue(CompletionQueue queue) {
            receiveCompletionQueue = queue;
            return this;
        }

        /**
         * Sets the number of send work requests that can be outstanding ({@code max_send_wr}).
         *
         * @param count the number of requests; 16 by default
         * @return this builder
         */
        public Builder maxSendRequests(int count) {
            maxSendRequests = count;
            return this;
        }

        /**
         * Sets the number of receive work requests that can be outstanding ({@code max_recv_wr}).
         *
         * @param count the number of requests; 16 by default
         * @return this builder
         */
        public Builder maxReceiveRequests(int count) {
            maxReceiveRequests = count;
            return this;
        }

        /**
         * Sets the number of scatter/gather entries that a send work request can have ({@code max_send_sge}).
         *
         * @param count the number of entries; 1 by default
         * @return this builder
         */
        public Builder maxSendScatterGather(int count) {
            maxSendScatterGather = count;
            return this;
        }

        /**
         * Sets the number of scatter/gather entries that a receive work request can have ({@code max_recv_sge}).
         *
         * @param count the number of entries; 1 by default
         * @return this builder
         */
        public Builder maxReceiveScatterGather(int count) {
            maxReceiveScatterGather = count;
            return this;
        }

        /**
         * Sets the amount of inline data that a send work request can have ({@code max_inline_data}).
         *
         * @param bytes the size in bytes; 0 by default
         * @return this builder
         */
        public Builder maxInlineData(int bytes) {
            maxInlineData = bytes;
            return this;
        }

        /**
         * Sets whether every send work request generates a completion, even if it is not flagged as signaled
         * ({@code sq_sig_all}).
         *
         * @param on true for all; by default only signaled requests do
         * @return this builder
         */
        public Builder signalAll(boolean on) {
            signalAll = on;
            return this;
        }

        /**
         * Sets the shared receive queue that replaces the queue pair's own receive queue. The sizes of the latter are
         * then ignored.
         *
         * @param queue the shared receive queue, of the same context as the queue pair; null for none
         * @return this builder
         */
        public Builder sharedReceiveQueue(@Nullable SharedReceiveQueue queue) {
            sharedReceiveQueue = queue;
            return this;
        }

        /**
         * Adds creation flags.
         *
         * @param flags the flags, in addition to those set before
         * @return this builder
         */
        public Builder createFlags(QueuePairCreateFlag... flags) {
            createFlags.addAll(Arrays.asList(flags));
            return this;
        }

        /**
         * Sets the maximum size of the headers of a segmented send (TSO).
         *
         * @param bytes the size in bytes, 16 bits; 0 by default, which rules out segmented sends
         * @return this builder
         */
        public Builder maxTsoHeader(int bytes) {
            maxTsoHeader = bytes;
            return this;
        }

        /**
         * Sets the queue pair number that outgoing packets carry instead of the queue pair's own, and the flag
         * {@code SOURCE_QPN}. Only for type UD.
         *
         * @param number the queue pair number, 24 bits
         * @return this builder
         */
        public Builder sourceQueuePair(int number) {
            sourceQueuePair = OptionalInt.of(number);
            return createFlags(QueuePairCreateFlag.SOURCE_QPN);
        }

        /**
         * Adds operations that a {@link SendBatch} of the queue pair may contain ({@code send_ops_flags}).
         *
         * @param operations the operations, in addition to those set before
         * @return this builder
         */
        public Builder sendOperations(Collection<SendOperation> operations) {
            sendOperations.addAll(operations);
            return this;
        }

        /**
         * Sets how received packets are distributed over work queues, which replace the receive queue. A receive
         * completion queue must not be set then, and a send completion queue only if the queue pair sends. The sizes of
         * queues that it does not have are ignored.
         *
         * @param scaling the indirection table and the hash; null for none
         * @return this builder
         */
        public Builder receiveSideScaling(@Nullable ReceiveSideScaling scaling) {
            receiveSideScaling = scaling;
            return this;
        }

        /**
         * Builds the attributes.
         *
         * @return the attributes
         * @throws NullPointerException if a completion queue is missing
         * @throws IllegalArgumentException if a number is negative or too large, or a value is set that the type does
         *        not have
         */
        public QueuePairInitAttributes build() {
            return new QueuePairInitAttributes(this, new QueuePairCapabilities(maxSendRequests, maxReceiveRequests,
                    maxSendScatterGather, maxReceiveScatterGather, maxInlineData));
        }
    }
}
