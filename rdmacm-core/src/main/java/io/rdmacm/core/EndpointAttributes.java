// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of the queue pair of an {@link Endpoint}: the {@code pd} and {@code qp_init_attr} of rdma_create_ep(3)
 * and rdma_create_qp(3). Immutable.
 */
public final class EndpointAttributes {
    private final @Nullable ProtectionDomain protectionDomain;
    private final @Nullable CompletionQueue sendCompletionQueue;
    private final @Nullable CompletionQueue receiveCompletionQueue;
    private final QueuePairCapabilities capabilities;
    private final boolean signalAll;

    private EndpointAttributes(Builder builder) {
        this.protectionDomain = builder.protectionDomain;
        this.sendCompletionQueue = builder.sendCompletionQueue;
        this.receiveCompletionQueue = builder.receiveCompletionQueue;
        this.capabilities = new QueuePairCapabilities(builder.maxSendRequests, builder.maxReceiveRequests,
                builder.maxSendScatterGather, builder.maxReceiveScatterGather, builder.maxInlineData);
        this.signalAll = builder.signalAll;
    }

    /**
     * Returns the default attributes.
     *
     * @return attributes for 16 sends and 16 receives with one scatter/gather entry each and no inline data; everything
     *         else is created by the endpoint
     */
    public static EndpointAttributes defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * {@return the domain of its memory regions; if empty, the endpoint allocates one and closes it when it is closed
     * itself}
     */
    public Optional<ProtectionDomain> protectionDomain() {
        return Optional.ofNullable(protectionDomain);
    }

    /**
     * {@return where the completions of sends are reported; if empty, the endpoint creates a completion queue as
     * large as the send queue, with a channel of its own}
     */
    public Optional<CompletionQueue> sendCompletionQueue() {
        return Optional.ofNullable(sendCompletionQueue);
    }

    /**
     * {@return where the completions of receives are reported; if empty, the endpoint creates a completion queue as
     * large as the receive queue, with a channel of its own}
     */
    public Optional<CompletionQueue> receiveCompletionQueue() {
        return Optional.ofNullable(receiveCompletionQueue);
    }

    /** {@return the sizes; the device may provide more} */
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /** {@return whether every send produces a completion, whatever its flags ({@code sq_sig_all})} */
    public boolean signalAll() {
        return signalAll;
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(protectionDomain, sendCompletionQueue, receiveCompletionQueue, capabilities, signalAll);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EndpointAttributes that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "EndpointAttributes" + values();
    }

    /** Builds {@link EndpointAttributes}. */
    public static final class Builder {
        private @Nullable ProtectionDomain protectionDomain;
        private @Nullable CompletionQueue sendCompletionQueue;
        private @Nullable CompletionQueue receiveCompletionQueue;
        private int maxSendRequests = 16;
        private int maxReceiveRequests = 16;
        private int maxSendScatterGather = 1;
        private int maxReceiveScatterGather = 1;
        private int maxInlineData;
        private boolean signalAll;

        private Builder() {
        }

        /**
         * Sets the protection domain of the memory regions.
         *
         * @param domain a domain of the device of the endpoint; null to let the endpoint allocate one
         * @return this builder
         */
        public Builder protectionDomain(@Nullable ProtectionDomain domain) {
            protectionDomain = domain;
            return this;
        }

        /**
         * Sets where the completions of sends are reported. The program takes them from that queue itself.
         *
         * @param queue a queue of the device of the endpoint; null to let the endpoint create one
         * @return this builder
         */
        public Builder sendCompletionQueue(@Nullable CompletionQueue queue) {
            sendCompletionQueue = queue;
            return this;
        }

        /**
         * Sets where the completions of receives are reported. The program takes them from that queue itself.
         *
         * @param queue a queue of the device of the endpoint; null to let the endpoint create one
         * @return this builder
         */
        public Builder receiveCompletionQueue(@Nullable CompletionQueue queue) {
            receiveCompletionQueue = queue;
            return this;
        }

        /**
         * Sets how many sends can be outstanding.
         *
         * @param count at least 0; the default is 16
         * @return this builder
         */
        public Builder maxSendRequests(int count) {
            maxSendRequests = count;
            return this;
        }

        /**
         * Sets how many receives can be outstanding.
         *
         * @param count at least 0; the default is 16
         * @return this builder
         */
        public Builder maxReceiveRequests(int count) {
            maxReceiveRequests = count;
            return this;
        }

        /**
         * Sets how many parts of memory a send may have.
         *
         * @param count at least 0; the default is 1
         * @return this builder
         */
        public Builder maxSendScatterGather(int count) {
            maxSendScatterGather = count;
            return this;
        }

        /**
         * Sets how many parts of memory a receive may have.
         *
         * @param count at least 0; the default is 1
         * @return this builder
         */
        public Builder maxReceiveScatterGather(int count) {
            maxReceiveScatterGather = count;
            return this;
        }

        /**
         * Sets how much data a send can carry inline.
         *
         * @param bytes at least 0; the default is 0
         * @return this builder
         */
        public Builder maxInlineData(int bytes) {
            maxInlineData = bytes;
            return this;
        }

        /**
         * Sets whether every send produces a completion, whatever its flags.
         *
         * @param on whether it does; the default is false
         * @return this builder
         */
        public Builder signalAll(boolean on) {
            signalAll = on;
            return this;
        }

        /**
         * Returns the attributes.
         *
         * @return the attributes
         * @throws IllegalArgumentException when a size is negative
         */
        public EndpointAttributes build() {
            return new EndpointAttributes(this);
        }
    }
}
