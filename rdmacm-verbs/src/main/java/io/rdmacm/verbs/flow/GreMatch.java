// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * The GRE header that packets of a flow have ({@code struct ibv_flow_spec_gre}). Made by {@link FlowMatch}. Immutable.
 */
public final class GreMatch extends FlowMatch {
    GreMatch(FlowFields fields) {
        super(fields);
    }

    /** The first 16 bits of the header: which of its fields are present, and the version. */
    public GreMatch flagsAndVersion(int bits) {
        return new GreMatch(fields().with(FlowField.GRE_FLAGS, bits));
    }

    /** Those bits of {@link #flagsAndVersion(int)} that are set in a mask. */
    public GreMatch flagsAndVersion(int bits, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_FLAGS, bits, mask));
    }

    /** What is inside, 16 bits, as an Ethernet type. */
    public GreMatch protocol(int type) {
        return new GreMatch(fields().with(FlowField.GRE_PROTOCOL, type));
    }

    /** Those bits of {@link #protocol(int)} that are set in a mask. */
    public GreMatch protocol(int type, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_PROTOCOL, type, mask));
    }

    /** The key, 32 bits. */
    public GreMatch key(int number) {
        return new GreMatch(fields().with(FlowField.GRE_KEY, Integer.toUnsignedLong(number)));
    }

    /** Those bits of {@link #key(int)} that are set in a mask. */
    public GreMatch key(int number, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_KEY, Integer.toUnsignedLong(number),
                Integer.toUnsignedLong(mask)));
    }

    @Override
    public GreMatch inner() {
        return new GreMatch(fields().ofInner());
    }
}
