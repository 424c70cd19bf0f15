// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a flow action does with packets, in IPsec ESP ({@code struct ibv_flow_action_esp_attr},
 * ibv_create_flow_action(3)). Immutable. A new flow action needs parameters and key material; a change may have any of
 * them.
 *
 * @param parameters how it encrypts or decrypts
 * @param keyMaterial the key
 * @param replayWindow the sequence numbers in the bitmap that guards against replay, with {@link EspFlag#FULL_OFFLOAD}
 *        only; 0 for no guard
 * @param encapsulation the headers around the packets, outermost first, with {@link EspFlag#FULL_OFFLOAD} only; of each
 *        match the values count, not the masks
 * @param extendedSequence the extended sequence number (RFC 4303) to begin with, its upper 32 bits
 */
public record EspAttributes(Optional<EspParameters> parameters, Optional<EspKeyMaterial> keyMaterial,
        OptionalInt replayWindow, List<FlowMatch> encapsulation, OptionalInt extendedSequence) {
    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when the replay window is negative
     */
    public EspAttributes {
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(keyMaterial, "keyMaterial");
        Objects.requireNonNull(extendedSequence, "extendedSequence");
        if (replayWindow.isPresent() && replayWindow.getAsInt() < 0) {
            throw new IllegalArgumentException("a replay window cannot be negative: " + replayWindow.getAsInt());
        }
        encapsulation = List.copyOf(encapsulation);
    }

    /**
     * As C has it: a {@code struct ibv_flow_action_esp_attr} and what it points to.
     *
     * @param arena where it is allocated
     */
    public MemorySegment toNative(Arena arena) {
        return EspStructs.write(this, arena);
    }

    /** Begins with nothing. */
    public static Builder builder() {
        return new Builder();
    }

    /** Makes {@link EspAttributes}. */
    public static final class Builder {
        private Optional<EspParameters> parameters = Optional.empty();
        private Optional<EspKeyMaterial> keyMaterial = Optional.empty();
        private OptionalInt replayWindow = OptionalInt.empty();
        private List<FlowMatch> encapsulation = List.of();
        private OptionalInt extendedSequence = OptionalInt.empty();

        private Builder() {
        }

        /** How it encrypts or decrypts. */
        public Builder parameters(EspParameters value) {
            parameters = Optional.of(value);
            return this;
        }

        /** The key. */
        public Builder keyMaterial(EspKeyMaterial value) {
            keyMaterial = Optional.of(value);
            return this;
        }

        /** The sequence numbers in the bitmap that guards against replay; 0 for no guard. */
        public Builder replayWindow(int size) {
            replayWindow = OptionalInt.of(size);
            return this;
        }

        /** The headers around the packets, outermost first, by the values of the matches. */
        public Builder encapsulation(FlowMatch... headers) {
            encapsulation = List.of(headers);
            return this;
        }

        /** The extended sequence number to begin with, its upper 32 bits. */
        public Builder extendedSequence(int value) {
            extendedSequence = OptionalInt.of(value);
            return this;
        }

        /**
         * The attributes.
         *
         * @throws IllegalArgumentException when the replay window is negative
         */
        public EspAttributes build() {
            return new EspAttributes(parameters, keyMaterial, replayWindow, encapsulation, extendedSequence);
        }
    }
}
