// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * Matches the GRE header of packets ({@code struct ibv_flow_spec_gre}, ibv_create_flow(3)). Created by
 * {@link FlowMatch}. Immutable.
 */
public final class GreMatch extends FlowMatch {
    GreMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the first 16 bits of the header: the flags for the fields that are present, and the version.
     *
     * @param bits the 16 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public GreMatch flagsAndVersion(int bits) {
        return new GreMatch(fields().with(FlowField.GRE_FLAGS, bits));
    }

    /**
     * Matches those bits of the first 16 bits of the header that are set in a mask.
     *
     * @param bits the 16 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public GreMatch flagsAndVersion(int bits, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_FLAGS, bits, mask));
    }

    /**
     * Matches the protocol type of the payload.
     *
     * @param type the protocol type, 16 bits: an EtherType
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public GreMatch protocol(int type) {
        return new GreMatch(fields().with(FlowField.GRE_PROTOCOL, type));
    }

    /**
     * Matches those bits of the protocol type of the payload that are set in a mask.
     *
     * @param type the protocol type, 16 bits: an EtherType
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public GreMatch protocol(int type, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_PROTOCOL, type, mask));
    }

    /**
     * Matches the key.
     *
     * @param number the key, 32 bits
     * @return a new match
     */
    public GreMatch key(int number) {
        return new GreMatch(fields().with(FlowField.GRE_KEY, Integer.toUnsignedLong(number)));
    }

    /**
     * Matches those bits of the key that are set in a mask.
     *
     * @param number the key, 32 bits
     * @param mask the bits to compare
     * @return a new match
     */
    public GreMatch key(int number, int mask) {
        return new GreMatch(fields().with(FlowField.GRE_KEY, Integer.toUnsignedLong(number),
                Integer.toUnsignedLong(mask)));
    }

    @Override
    public GreMatch inner() {
        return new GreMatch(fields().ofInner());
    }
}
