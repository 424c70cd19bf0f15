// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * Matches an entry of the MPLS label stack of packets ({@code struct ibv_flow_spec_mpls}, ibv_create_flow(3)). Created
 * by {@link FlowMatch}. Immutable.
 */
public final class MplsMatch extends FlowMatch {
    private static final int LABEL_SHIFT = 12;

    MplsMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the whole label stack entry.
     *
     * @param bits the 32 bits: 20 of label, 3 of traffic class, 1 for the bottom of the stack, 8 of time to live
     * @return a new match
     */
    public MplsMatch entry(int bits) {
        return new MplsMatch(fields().with(FlowField.MPLS_ENTRY, Integer.toUnsignedLong(bits)));
    }

    /**
     * Matches those bits of the whole label stack entry that are set in a mask.
     *
     * @param bits the 32 bits: 20 of label, 3 of traffic class, 1 for the bottom of the stack, 8 of time to live
     * @param mask the bits to compare
     * @return a new match
     */
    public MplsMatch entry(int bits, int mask) {
        return new MplsMatch(fields().with(FlowField.MPLS_ENTRY, Integer.toUnsignedLong(bits),
                Integer.toUnsignedLong(mask)));
    }

    /**
     * Matches the label.
     *
     * @param label the label, 20 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 20 bits
     */
    public MplsMatch label(int label) {
        Arguments.requireBits("label", label, Integer.SIZE - LABEL_SHIFT);
        return entry(label << LABEL_SHIFT, -1 << LABEL_SHIFT);
    }

    @Override
    public MplsMatch inner() {
        return new MplsMatch(fields().ofInner());
    }
}
