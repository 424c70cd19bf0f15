// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * What a queue pair is made with ({@code struct ibv_qp_init_attr}, ibv_create_qp(3)). Immutable.
 *
 * @param type the transport service
 * @param sendQueue where finished send work requests are reported
 * @param receiveQueue where finished receive work requests are reported; may be the same
 * @param capabilities its sizes; the device may give more
 * @param signalAll whether every send work request gives a completion, whatever its flag says ({@code sq_sig_all})
 * @param sharedReceiveQueue where its receives are posted instead of to itself
 */
public record QueuePairInitAttributes(QueuePairType type, CompletionQueue sendQueue, CompletionQueue receiveQueue,
        QueuePairCapabilities capabilities, boolean signalAll, Optional<SharedReceiveQueue> sharedReceiveQueue) {
    /** Refuses null. */
    public QueuePairInitAttributes {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(sendQueue, "sendQueue");
        Objects.requireNonNull(receiveQueue, "receiveQueue");
        Objects.requireNonNull(capabilities, "capabilities");
        Objects.requireNonNull(sharedReceiveQueue, "sharedReceiveQueue");
    }

    /** The same with a shared receive queue. */
    public QueuePairInitAttributes withSharedReceiveQueue(SharedReceiveQueue queue) {
        return new QueuePairInitAttributes(type, sendQueue, receiveQueue, capabilities, signalAll,
                Optional.of(queue));
    }

    /** Begins with a reliable connection of 16 sends and 16 receives, one scatter/gather entry each, nothing inline. */
    public static Builder builder() {
        return new Builder();
    }

    /** The same with what the device tells of it. */
    QueuePairInitAttributes with(QueuePairCapabilities sizes, boolean signalsAll) {
        return new QueuePairInitAttributes(type, sendQueue, receiveQueue, sizes, signalsAll, sharedReceiveQueue);
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

        /**
         * The attributes.
         *
         * @throws NullPointerException when a completion queue is missing
         * @throws IllegalArgumentException when a size is negative
         */
        public QueuePairInitAttributes build() {
            return new QueuePairInitAttributes(type, sendQueue, receiveQueue, new QueuePairCapabilities(
                    maxSendRequests, maxReceiveRequests, maxSendScatterGather, maxReceiveScatterGather, maxInlineData),
                    signalAll, Optional.ofNullable(sharedReceiveQueue));
        }
    }
}
