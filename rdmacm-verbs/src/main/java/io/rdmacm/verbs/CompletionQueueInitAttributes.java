// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.work.CompletionField;

/**
 * What an extended completion queue is made with ({@code struct ibv_cq_init_attr_ex}, ibv_create_cq_ex(3)). Immutable.
 *
 * @param capacity how many completions it must hold; the device may give more
 * @param channel what its events come through; empty when it is only polled
 * @param completionVector which of the device's event vectors signals it
 * @param fields what the cursor shall be able to read
 * @param flags how it behaves
 * @param parentDomain whose allocators the driver shall use
 */
public record CompletionQueueInitAttributes(int capacity, Optional<CompletionChannel> channel, int completionVector,
        Set<CompletionField> fields, Set<CompletionQueueFlag> flags, Optional<ProtectionDomain> parentDomain) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when the capacity is less than 1, or the vector negative
     */
    public CompletionQueueInitAttributes {
        CompletionQueue.requireCapacity(capacity);
        if (completionVector < 0) {
            throw new IllegalArgumentException("completion vectors are numbered from 0 on, not " + completionVector);
        }
        Objects.requireNonNull(channel, "channel");
        Objects.requireNonNull(parentDomain, "parentDomain");
        fields = Set.copyOf(fields);
        flags = Set.copyOf(flags);
    }

    /**
     * Begins without a channel, and with the fields that every device has: {@link CompletionField#BYTE_LEN} to
     * {@link CompletionField#DLID_PATH_BITS} ({@code IBV_WC_STANDARD_FLAGS}).
     *
     * @param capacity how many completions it must hold, at least 1; the device may give more
     */
    public static Builder builder(int capacity) {
        return new Builder(capacity);
    }

    /** Makes {@link CompletionQueueInitAttributes}. */
    public static final class Builder {
        private final int capacity;
        private CompletionChannel channel;
        private int completionVector;
        private Set<CompletionField> fields = Set.of(CompletionField.BYTE_LEN, CompletionField.IMM,
                CompletionField.QP_NUM, CompletionField.SRC_QP, CompletionField.SLID, CompletionField.SL,
                CompletionField.DLID_PATH_BITS);
        private Set<CompletionQueueFlag> flags = Set.of();
        private ProtectionDomain parentDomain;

        private Builder(int capacity) {
            this.capacity = capacity;
        }

        /** What its events come through, of the same context. */
        public Builder channel(CompletionChannel value) {
            channel = value;
            return this;
        }

        /** Which of the device's event vectors signals it: 0 to one less than their number. */
        public Builder completionVector(int vector) {
            completionVector = vector;
            return this;
        }

        /** What the cursor shall be able to read, and nothing else. */
        public Builder fields(CompletionField... values) {
            fields = Set.of(values);
            return this;
        }

        /** How it behaves. */
        public Builder flags(CompletionQueueFlag... values) {
            flags = Set.of(values);
            return this;
        }

        /** Whose allocators the driver shall use. */
        public Builder parentDomain(ProtectionDomain domain) {
            parentDomain = domain;
            return this;
        }

        /**
         * The attributes.
         *
         * @throws IllegalArgumentException when a number is wrong
         */
        public CompletionQueueInitAttributes build() {
            return new CompletionQueueInitAttributes(capacity, Optional.ofNullable(channel), completionVector, fields,
                    flags, Optional.ofNullable(parentDomain));
        }
    }
}
