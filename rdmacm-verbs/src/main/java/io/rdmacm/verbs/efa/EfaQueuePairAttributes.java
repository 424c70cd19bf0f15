// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.internal.ffi.Arguments;

/** What only SRD queue pairs are created with ({@code struct efadv_qp_init_attr}, efadv_create_qp_ex(3)). Immutable. */
public final class EfaQueuePairAttributes {
    private final Set<EfaQueuePairFlag> flags;
    private final int serviceLevel;

    private EfaQueuePairAttributes(Builder builder) {
        flags = Collections.unmodifiableSet(EnumSet.copyOf(builder.flags));
        serviceLevel = builder.serviceLevel;
    }

    /** {@return no options and service level 0} */
    public static EfaQueuePairAttributes defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return the options} */
    public Set<EfaQueuePairFlag> flags() {
        return flags;
    }

    /** {@return the service level of all messages, 8 bits; other than 0 since rdma-core 55} */
    public int serviceLevel() {
        return serviceLevel;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EfaQueuePairAttributes that && flags.equals(that.flags)
                && serviceLevel == that.serviceLevel;
    }

    @Override
    public int hashCode() {
        return 31 * flags.hashCode() + serviceLevel;
    }

    @Override
    public String toString() {
        return "EfaQueuePairAttributes[flags=" + flags + ", serviceLevel=" + serviceLevel + "]";
    }

    /** Builds {@link EfaQueuePairAttributes}. */
    public static final class Builder {
        private final EnumSet<EfaQueuePairFlag> flags = EnumSet.noneOf(EfaQueuePairFlag.class);
        private int serviceLevel;

        private Builder() {
        }

        /**
         * Adds options.
         *
         * @param options the options, in addition to those set before
         * @return this builder
         */
        public Builder flags(EfaQueuePairFlag... options) {
            flags.addAll(List.of(options));
            return this;
        }

        /**
         * Sets the service level of all messages.
         *
         * @param level 8 bits; 0 by default
         * @return this builder
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder serviceLevel(int level) {
            Arguments.requireBits("service level", level, Byte.SIZE);
            serviceLevel = level;
            return this;
        }

        /** {@return the attributes} */
        public EfaQueuePairAttributes build() {
            return new EfaQueuePairAttributes(this);
        }
    }
}
