// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * What only SRD queue pairs are created with ({@code struct efadv_qp_init_attr}, efadv_create_qp_ex(3)). Immutable.
 *
 * @param flags the options
 * @param serviceLevel the service level of all messages, 8 bits; other than 0 since rdma-core 55
 */
public record EfaQueuePairAttributes(Set<EfaQueuePairFlag> flags, int serviceLevel) {
    private static final EfaQueuePairAttributes DEFAULTS = new EfaQueuePairAttributes(Set.of(), 0);

    /**
     * Checks the attributes, and copies the set.
     *
     * @throws NullPointerException if an option is null
     * @throws IllegalArgumentException if the service level is out of range
     */
    public EfaQueuePairAttributes {
        Arguments.requireBits("service level", serviceLevel, Byte.SIZE);
        Set<EfaQueuePairFlag> copy = EnumSet.noneOf(EfaQueuePairFlag.class);
        copy.addAll(flags);
        flags = Collections.unmodifiableSet(copy);
    }

    /** {@return no options and service level 0} */
    public static EfaQueuePairAttributes defaults() {
        return DEFAULTS;
    }

    /**
     * Returns attributes with options.
     *
     * @param flags the options
     * @return the attributes, with service level 0
     */
    public static EfaQueuePairAttributes of(EfaQueuePairFlag... flags) {
        return new EfaQueuePairAttributes(Set.of(flags), 0);
    }
}
