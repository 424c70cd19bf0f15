// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * One entry of the MPLS label stack that packets of a flow have ({@code struct ibv_flow_spec_mpls}). Made by {@link
 * FlowMatch}. Immutable.
 */
public final class MplsMatch extends FlowMatch {
    private static final int LABEL_SHIFT = 12;

    MplsMatch(FlowFields fields) {
        super(fields);
    }

    /** The whole entry, 32 bits: 20 of label, 3 of traffic class, 1 for the last entry, 8 of time to live. */
    public MplsMatch entry(int bits) {
        return new MplsMatch(fields().with(FlowField.MPLS_ENTRY, Integer.toUnsignedLong(bits)));
    }

    /** Those bits of {@link #entry(int)} that are set in a mask. */
    public MplsMatch entry(int bits, int mask) {
        return new MplsMatch(fields().with(FlowField.MPLS_ENTRY, Integer.toUnsignedLong(bits),
                Integer.toUnsignedLong(mask)));
    }

    /** The label alone, 20 bits. */
    public MplsMatch label(int label) {
        Arguments.requireBits("label", label, Integer.SIZE - LABEL_SHIFT);
        return entry(label << LABEL_SHIFT, -1 << LABEL_SHIFT);
    }

    @Override
    public MplsMatch inner() {
        return new MplsMatch(fields().ofInner());
    }
}
