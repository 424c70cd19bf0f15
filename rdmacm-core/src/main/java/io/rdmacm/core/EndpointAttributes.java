// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.queue.QueuePairCapabilities;

/**
 * The attributes of the queue pair of an {@link Endpoint}: the {@code pd} and {@code qp_init_attr} of rdma_create_ep(3)
 * and rdma_create_qp(3). Immutable.
 *
 * @param protectionDomain the domain of its memory regions; if empty, the endpoint allocates one and closes it at its
 *        end
 * @param sendQueue where the completions of sends are reported; if empty, the endpoint creates a completion queue as
 *        large as the send queue, with a channel of its own
 * @param receiveQueue the same for receives
 * @param capabilities the sizes; the device may give more
 * @param signalAll whether every send produces a completion, whatever its flags ({@code sq_sig_all})
 */
public record EndpointAttributes(Optional<ProtectionDomain> protectionDomain, Optional<CompletionQueue> sendQueue,
        Optional<CompletionQueue> receiveQueue, QueuePairCapabilities capabilities, boolean signalAll) {
    /** Refuses null. */
    public EndpointAttributes {
        Objects.requireNonNull(protectionDomain, "protectionDomain");
        Objects.requireNonNull(sendQueue, "sendQueue");
        Objects.requireNonNull(receiveQueue, "receiveQueue");
        Objects.requireNonNull(capabilities, "capabilities");
    }

    /**
     * Returns the default attributes: 16 sends and 16 receives with one scatter/gather entry each, no inline data;
     * everything else is created by the endpoint.
     */
    public static EndpointAttributes defaults() {
        return builder().build();
    }

    /** Returns a builder that starts with the values of {@link #defaults()}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds {@link EndpointAttributes}. */
    public static final class Builder {
        private ProtectionDomain protectionDomain;
        private CompletionQueue sendQueue;
        private CompletionQueue receiveQueue;
        private int maxSendRequests = 16;
        private int maxReceiveRequests = 16;
        private int maxSendScatterGather = 1;
        private int maxReceiveScatterGather = 1;
        private int maxInlineData;
        private boolean signalAll;

        private Builder() {
        }

        /** Sets the domain of its memory regions, which must be of the device of the endpoint. */
        public Builder protectionDomain(ProtectionDomain domain) {
            protectionDomain = domain;
            return this;
        }

        /** Sets where the completions of sends are reported. The caller takes them from that queue. */
        public Builder sendQueue(CompletionQueue queue) {
            sendQueue = queue;
            return this;
        }

        /** Sets where the completions of receives are reported. The caller takes them from that queue. */
        public Builder receiveQueue(CompletionQueue queue) {
            receiveQueue = queue;
            return this;
        }

        /** Sets how many sends can be outstanding. */
        public Builder maxSendRequests(int count) {
            maxSendRequests = count;
            return this;
        }

        /** Sets how many receives can be outstanding. */
        public Builder maxReceiveRequests(int count) {
            maxReceiveRequests = count;
            return this;
        }

        /** Sets how many parts of memory a send may have. */
        public Builder maxSendScatterGather(int count) {
            maxSendScatterGather = count;
            return this;
        }

        /** Sets how many parts of memory a receive may have. */
        public Builder maxReceiveScatterGather(int count) {
            maxReceiveScatterGather = count;
            return this;
        }

        /** Sets how many bytes a send can carry inline. */
        public Builder maxInlineData(int bytes) {
            maxInlineData = bytes;
            return this;
        }

        /** Sets whether every send produces a completion, whatever its flags. */
        public Builder signalAll(boolean on) {
            signalAll = on;
            return this;
        }

        /**
         * Returns the attributes.
         *
         * @throws IllegalArgumentException when a size is negative
         */
        public EndpointAttributes build() {
            return new EndpointAttributes(Optional.ofNullable(protectionDomain), Optional.ofNullable(sendQueue),
                    Optional.ofNullable(receiveQueue), new QueuePairCapabilities(maxSendRequests, maxReceiveRequests,
                            maxSendScatterGather, maxReceiveScatterGather, maxInlineData), signalAll);
        }
    }
}
