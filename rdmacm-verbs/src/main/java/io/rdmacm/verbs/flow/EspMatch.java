// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * Matches the header of encrypted packets (IPsec ESP) of packets ({@code struct ibv_flow_spec_esp},
 * ibv_create_flow(3)). Created by {@link FlowMatch}. Immutable.
 */
public final class EspMatch extends FlowMatch {
    EspMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the security parameters index (SPI).
     *
     * @param index the index, an unsigned 32-bit number
     * @return a new match
     */
    public EspMatch securityParametersIndex(int index) {
        return new EspMatch(fields().with(FlowField.ESP_SPI, Integer.toUnsignedLong(index)));
    }

    /**
     * Matches those bits of the security parameters index (SPI) that are set in a mask.
     *
     * @param index the index, an unsigned 32-bit number
     * @param mask the bits to compare
     * @return a new match
     */
    public EspMatch securityParametersIndex(int index, int mask) {
        return new EspMatch(fields().with(FlowField.ESP_SPI, Integer.toUnsignedLong(index),
                Integer.toUnsignedLong(mask)));
    }

    /**
     * Matches the sequence number.
     *
     * @param number the sequence number, an unsigned 32-bit number
     * @return a new match
     */
    public EspMatch sequence(int number) {
        return new EspMatch(fields().with(FlowField.ESP_SEQ, Integer.toUnsignedLong(number)));
    }

    /**
     * Matches those bits of the sequence number that are set in a mask.
     *
     * @param number the sequence number, an unsigned 32-bit number
     * @param mask the bits to compare
     * @return a new match
     */
    public EspMatch sequence(int number, int mask) {
        return new EspMatch(fields().with(FlowField.ESP_SEQ, Integer.toUnsignedLong(number),
                Integer.toUnsignedLong(mask)));
    }

    @Override
    public EspMatch inner() {
        return new EspMatch(fields().ofInner());
    }
}
