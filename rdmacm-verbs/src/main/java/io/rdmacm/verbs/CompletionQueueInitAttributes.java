// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.work.CompletionField;
import org.jspecify.annotations.Nullable;

/**
 * The attributes with which an extended completion queue is created ({@code struct ibv_cq_init_attr_ex},
 * ibv_create_cq_ex(3)). Immutable.
 */
public final class CompletionQueueInitAttributes {
    private final int capacity;
    private final @Nullable CompletionChannel channel;
    private final int completionVector;
    private final Set<CompletionField> fields;
    private final Set<CompletionQueueFlag> flags;
    private final @Nullable ProtectionDomain parentDomain;

    private CompletionQueueInitAttributes(Builder builder) {
        CompletionQueue.requireCapacity(builder.capacity);
        if (builder.completionVector < 0) {
            throw new IllegalArgumentException("completion vectors are numbered from 0, not "
                    + builder.completionVector);
        }
        this.capacity = builder.capacity;
        this.channel = builder.channel;
        this.completionVector = builder.completionVector;
        this.fields = builder.fields;
        this.flags = builder.flags;
        this.parentDomain = builder.parentDomain;
    }

    /**
     * Returns a builder that starts without a channel and flags, and with the fields that every device supports:
     * {@link CompletionField#BYTE_LEN} to {@link CompletionField#DLID_PATH_BITS} ({@code IBV_WC_STANDARD_FLAGS}).
     *
     * @param capacity the number of completions that the queue must be able to hold, at least 1; the device may round
     *        up
     * @return the builder
     */
    public static Builder builder(int capacity) {
        return new Builder(capacity);
    }

    /** {@return the number of completions that the queue must be able to hold; the device may round up} */
    public int capacity() {
        return capacity;
    }

    /** {@return the channel that delivers its events; empty if it is only polled} */
    public Optional<CompletionChannel> channel() {
        return Optional.ofNullable(channel);
    }

    /** {@return the event vector of the device that signals the events} */
    public int completionVector() {
        return completionVector;
    }

    /** {@return the fields that the cursor can read} */
    public Set<CompletionField> fields() {
        return fields;
    }

    /** {@return the creation flags} */
    public Set<CompletionQueueFlag> flags() {
        return flags;
    }

    /** {@return the parent domain whose allocators the driver uses; empty for none} */
    public Optional<ProtectionDomain> parentDomain() {
        return Optional.ofNullable(parentDomain);
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(capacity, channel, completionVector, fields, flags, parentDomain);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CompletionQueueInitAttributes that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "CompletionQueueInitAttributes" + values();
    }

    /** Builds {@link CompletionQueueInitAttributes}. */
    public static final class Builder {
        private final int capacity;
        private @Nullable CompletionChannel channel;
        private int completionVector;
        private Set<CompletionField> fields = Set.of(CompletionField.BYTE_LEN, CompletionField.IMM,
                CompletionField.QP_NUM, CompletionField.SRC_QP, CompletionField.SLID, CompletionField.SL,
                CompletionField.DLID_PATH_BITS);
        private Set<CompletionQueueFlag> flags = Set.of();
        private @Nullable ProtectionDomain parentDomain;

        private Builder(int capacity) {
            this.capacity = capacity;
        }

        /**
         * Sets the channel that delivers the events of the queue.
         *
         * @param value the channel, of the same context as the queue
         * @return this builder
         */
        public Builder channel(CompletionChannel value) {
            channel = value;
            return this;
        }

        /**
         * Sets the event vector of the device that signals the events.
         *
         * @param vector from 0 to one less than {@link VerbsContext#completionVectors()}; 0 by default
         * @return this builder
         */
        public Builder completionVector(int vector) {
            completionVector = vector;
            return this;
        }

        /**
         * Sets the fields that the cursor can read.
         *
         * @param values the fields, which replace all others
         * @return this builder
         */
        public Builder fields(CompletionField... values) {
            fields = Set.of(values);
            return this;
        }

        /**
         * Sets the creation flags.
         *
         * @param values the flags, which replace all others; none by default
         * @return this builder
         */
        public Builder flags(CompletionQueueFlag... values) {
            flags = Set.of(values);
            return this;
        }

        /**
         * Sets the parent domain whose allocators the driver uses.
         *
         * @param domain the parent domain, of the same context as the queue
         * @return this builder
         */
        public Builder parentDomain(ProtectionDomain domain) {
            parentDomain = domain;
            return this;
        }

        /**
         * Builds the attributes.
         *
         * @return the attributes
         * @throws IllegalArgumentException if the capacity is less than 1, or the vector is negative
         */
        public CompletionQueueInitAttributes build() {
            return new CompletionQueueInitAttributes(this);
        }
    }
}
