// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairCapabilities;

/**
 * What the queue pair of an {@link Endpoint} is made with: the {@code pd} and {@code qp_init_attr} of rdma_create_ep(3)
 * and rdma_create_qp(3). Immutable.
 *
 * @param protectionDomain whose memory it uses; empty to have the endpoint make one, which ends with it
 * @param sendQueue where finished sends are reported; empty to have the endpoint make one, of the size of the send
 *        queue, with a channel of its own
 * @param receiveQueue the same for receives
 * @param capabilities the sizes; the device may give more
 * @param signalAll whether every send gives a completion, whatever its flags say ({@code sq_sig_all})
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

    /** 16 sends and 16 receives, one scatter/gather entry each, nothing inline; all else made by the endpoint. */
    public static EndpointAttributes defaults() {
        return builder().build();
    }

    /** Begins with the values of {@link #defaults()}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Makes {@link EndpointAttributes}. */
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

        /** Whose memory it uses; of the device of the endpoint. */
        public Builder protectionDomain(ProtectionDomain domain) {
            protectionDomain = domain;
            return this;
        }

        /** Where finished sends are reported. They are taken from that queue, not by the endpoint. */
        public Builder sendQueue(CompletionQueue queue) {
            sendQueue = queue;
            return this;
        }

        /** Where finished receives are reported. They are taken from that queue, not by the endpoint. */
        public Builder receiveQueue(CompletionQueue queue) {
            receiveQueue = queue;
            return this;
        }

        /** How many sends can be outstanding. */
        public Builder maxSendRequests(int count) {
            maxSendRequests = count;
            return this;
        }

        /** How many receives can be outstanding. */
        public Builder maxReceiveRequests(int count) {
            maxReceiveRequests = count;
            return this;
        }

        /** How many parts of memory a send may have. */
        public Builder maxSendScatterGather(int count) {
            maxSendScatterGather = count;
            return this;
        }

        /** How many parts of memory a receive may have. */
        public Builder maxReceiveScatterGather(int count) {
            maxReceiveScatterGather = count;
            return this;
        }

        /** How many bytes a send can carry inline. */
        public Builder maxInlineData(int bytes) {
            maxInlineData = bytes;
            return this;
        }

        /** Whether every send gives a completion, whatever its flags say. */
        public Builder signalAll(boolean on) {
            signalAll = on;
            return this;
        }

        /**
         * The attributes.
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
