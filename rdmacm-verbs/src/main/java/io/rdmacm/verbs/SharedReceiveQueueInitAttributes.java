// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;

/**
 * What a shared receive queue is made with ({@code struct ibv_srq_init_attr_ex}, ibv_create_srq_ex(3)). Immutable.
 *
 * @param type what kind it is
 * @param attributes its sizes; the device may give more
 * @param xrcDomain of type {@code XRC}: the domain by which others reach it
 * @param completionQueue of the types {@code XRC} and {@code TM}: where its finished receives, or the operations on its
 *        list, are reported
 * @param maxTags of type {@code TM}: how many tagged buffers its list holds
 * @param maxOperations of type {@code TM}: how many operations on the list can be outstanding
 */
public record SharedReceiveQueueInitAttributes(SharedReceiveQueueType type, SharedReceiveQueueAttributes attributes,
        Optional<XrcDomain> xrcDomain, Optional<CompletionQueue> completionQueue, int maxTags, int maxOperations) {
    /**
     * Checks what belongs to the type.
     *
     * @throws IllegalArgumentException when something is given that the type does not take, or a number is negative
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
            throw new IllegalArgumentException("the sizes of a tag list cannot be negative: " + maxTags + " tags, "
                    + maxOperations + " operations");
        }
    }

    /** Begins with a basic one of 16 receives of one scatter/gather entry each, and no limit. */
    public static Builder builder() {
        return new Builder();
    }

    private static void requireOnly(boolean given, boolean taken, String what, SharedReceiveQueueType type) {
        if (given && !taken) {
            throw new IllegalArgumentException("a shared receive queue of type " + type + " does not take " + what);
        }
    }

    /** Makes {@link SharedReceiveQueueInitAttributes}. */
    public static final class Builder {
        private SharedReceiveQueueType type = SharedReceiveQueueType.BASIC;
        private int maxRequests = 16;
        private int maxScatterGather = 1;
        private int limit;
        private XrcDomain xrcDomain;
        private CompletionQueue completionQueue;
        private int maxTags;
        private int maxOperations;

        private Builder() {
        }

        /** How many receive work requests can be outstanding. */
        public Builder maxRequests(int count) {
            maxRequests = count;
            return this;
        }

        /** How many scatter/gather entries each may have. */
        public Builder maxScatterGather(int count) {
            maxScatterGather = count;
            return this;
        }

        /** The limit; most devices take it only later, by {@link SharedReceiveQueue#setLimit}. */
        public Builder limit(int receives) {
            limit = receives;
            return this;
        }

        /**
         * Of type {@code XRC}.
         *
         * @param domain by which others reach it
         * @param queue where its receives are reported
         */
        public Builder xrc(XrcDomain domain, CompletionQueue queue) {
            type = SharedReceiveQueueType.XRC;
            xrcDomain = domain;
            completionQueue = queue;
            return this;
        }

        /**
         * Of type {@code TM}: tag matching.
         *
         * @param queue where the operations on its list are reported
         * @param tags how many tagged buffers its list holds
         * @param operations how many operations on the list can be outstanding
         */
        public Builder tagMatching(CompletionQueue queue, int tags, int operations) {
            type = SharedReceiveQueueType.TM;
            completionQueue = queue;
            maxTags = tags;
            maxOperations = operations;
            return this;
        }

        /**
         * The attributes.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public SharedReceiveQueueInitAttributes build() {
            return new SharedReceiveQueueInitAttributes(type,
                    new SharedReceiveQueueAttributes(maxRequests, maxScatterGather, limit),
                    Optional.ofNullable(xrcDomain), Optional.ofNullable(completionQueue), maxTags, maxOperations);
        }
    }
}
