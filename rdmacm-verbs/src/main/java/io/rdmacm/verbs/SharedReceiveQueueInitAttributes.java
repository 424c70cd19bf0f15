// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

/**
 * The attributes with which a shared receive queue is created ({@code struct ibv_srq_init_attr_ex},
 * ibv_create_srq_ex(3)). Immutable.
 *
 * @param type the type of the queue
 * @param attributes the requested sizes, which the device may exceed
 * @param xrcDomain the XRC domain through which peers reach the queue; for type {@code XRC} only
 * @param completionQueue the completion queue for finished receives of type {@code XRC}, or for receives and list
 *        operations of type {@code TM}; for these types only
 * @param maxTags the number of tagged buffers that the tag matching list can hold; 0 except for type {@code TM}
 * @param maxOperations the number of list operations that can be outstanding; 0 except for type {@code TM}
 */
public record SharedReceiveQueueInitAttributes(SharedReceiveQueueType type, SharedReceiveQueueAttributes attributes,
        Optional<XrcDomain> xrcDomain, Optional<CompletionQueue> completionQueue, int maxTags, int maxOperations) {
    /**
     * Checks that the attributes fit the type.
     *
     * @throws NullPointerException if one is null
     * @throws IllegalArgumentException if one is set that the type does not have, or a number is negative
     */
    public SharedReceiveQueueInitAttributes {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(attributes, "attributes");
        Objects.requireNonNull(xrcDomain, "xrcDomain");
        Objects.requireNonNull(completionQueue, "completionQueue");
        requireOnly(xrcDomain.isPresent(), type == SharedReceiveQueueType.XRC, "an XRC domain", type);
        requireOnly(completionQueue.isPresent(), type != SharedReceiveQueueType.BASIC, "a completion queue", type);
        requireOnly(maxTags != 0 || maxOperations != 0, type == SharedReceiveQueueType.TM, "tag matching", type);
        if (maxTags < 0 || maxOperations < 0) {
            throw new IllegalArgumentException("the sizes of a tag matching list cannot be negative: " + maxTags
                    + " tags, " + maxOperations + " operations");
        }
    }

    /** {@return a builder that starts with type BASIC, 16 receives of one scatter/gather entry each, and no limit} */
    public static Builder builder() {
        return new Builder();
    }

    private static void requireOnly(boolean given, boolean taken, String what, SharedReceiveQueueType type) {
        if (given && !taken) {
            throw new IllegalArgumentException("a shared receive queue of type " + type + " cannot have " + what);
        }
    }

    /** Builds {@link SharedReceiveQueueInitAttributes}. */
    public static final class Builder {
        private SharedReceiveQueueType type = SharedReceiveQueueType.BASIC;
        private int maxRequests = 16;
        private int maxScatterGather = 1;
        private int limit;
        private @Nullable XrcDomain xrcDomain;
        private @Nullable CompletionQueue completionQueue;
        private int maxTags;
        private int maxOperations;

        private Builder() {
        }

        /**
         * Sets the number of receive work requests that can be outstanding ({@code max_wr}).
         *
         * @param count the number of requests; 16 by default
         * @return this builder
         */
        public Builder maxRequests(int count) {
            maxRequests = count;
            return this;
        }

        /**
         * Sets the number of scatter/gather entries that each request can have ({@code max_sge}).
         *
         * @param count the number of entries; 1 by default
         * @return this builder
         */
        public Builder maxScatterGather(int count) {
            maxScatterGather = count;
            return this;
        }

        /**
         * Sets the limit below which the device raises SRQ_LIMIT_REACHED ({@code srq_limit}). Most devices ignore it
         * here: use {@link SharedReceiveQueue#setLimit} instead.
         *
         * @param receives the number of receives; 0 by default, for no event
         * @return this builder
         */
        public Builder limit(int receives) {
            limit = receives;
            return this;
        }

        /**
         * Sets the type to {@code XRC}.
         *
         * @param domain the XRC domain through which peers reach the queue
         * @param queue the completion queue for finished receives
         * @return this builder
         */
        public Builder xrc(XrcDomain domain, CompletionQueue queue) {
            type = SharedReceiveQueueType.XRC;
            xrcDomain = domain;
            completionQueue = queue;
            return this;
        }

        /**
         * Sets the type to {@code TM}, for tag matching.
         *
         * @param queue the completion queue for finished receives and list operations
         * @param tags the number of tagged buffers that the list can hold
         * @param operations the number of list operations that can be outstanding
         * @return this builder
         */
        public Builder tagMatching(CompletionQueue queue, int tags, int operations) {
            type = SharedReceiveQueueType.TM;
            completionQueue = queue;
            maxTags = tags;
            maxOperations = operations;
            return this;
        }

        /**
         * Builds the attributes.
         *
         * @return the attributes
         * @throws IllegalArgumentException if a number is negative
         */
        public SharedReceiveQueueInitAttributes build() {
            return new SharedReceiveQueueInitAttributes(type,
                    new SharedReceiveQueueAttributes(maxRequests, maxScatterGather, limit),
                    Optional.ofNullable(xrcDomain), Optional.ofNullable(completionQueue), maxTags, maxOperations);
        }
    }
}
