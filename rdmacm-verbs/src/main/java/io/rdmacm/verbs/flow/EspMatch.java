// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * The header of encrypted packets (IPsec ESP) of a flow ({@code struct ibv_flow_spec_esp}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class EspMatch extends FlowMatch {
    EspMatch(FlowFields fields) {
        super(fields);
    }

    /** The index of the security association, 32 bits. */
    public EspMatch securityParametersIndex(int index) {
        return new EspMatch(fields().with(FlowField.ESP_SPI, Integer.toUnsignedLong(index)));
    }

    /** Those bits of {@link #securityParametersIndex(int)} that are set in a mask. */
    public EspMatch securityParametersIndex(int index, int mask) {
        return new EspMatch(fields().with(FlowField.ESP_SPI, Integer.toUnsignedLong(index),
                Integer.toUnsignedLong(mask)));
    }

    /** The sequence number, 32 bits. */
    public EspMatch sequence(int number) {
        return new EspMatch(fields().with(FlowField.ESP_SEQ, Integer.toUnsignedLong(number)));
    }

    /** Those bits of {@link #sequence(int)} that are set in a mask. */
    public EspMatch sequence(int number, int mask) {
        return new EspMatch(fields().with(FlowField.ESP_SEQ, Integer.toUnsignedLong(number),
                Integer.toUnsignedLong(mask)));
    }

    @Override
    public EspMatch inner() {
        return new EspMatch(fields().ofInner());
    }
}
