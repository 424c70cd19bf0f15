// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The attributes of a flow action for IPsec ESP ({@code struct ibv_flow_action_esp_attr}, ibv_flow_action_esp(3)).
 * Immutable. To create a flow action, parameters and key material are required; to modify one, any subset will do.
 *
 * @param parameters how packets are encrypted or decrypted
 * @param keyMaterial the key
 * @param replayWindow the size of the anti-replay window, in sequence numbers, or 0 for no replay protection; only with
 *        {@link EspFlag#FULL_OFFLOAD}
 * @param encapsulation the headers around the packets, outermost first; only with {@link EspFlag#FULL_OFFLOAD}. Of each
 *        match the values are used, and the masks ignored.
 * @param extendedSequence the upper 32 bits of the initial extended sequence number (ESN, RFC 4303)
 */
public record EspAttributes(Optional<EspParameters> parameters, Optional<EspKeyMaterial> keyMaterial,
        OptionalInt replayWindow, List<FlowMatch> encapsulation, OptionalInt extendedSequence) {
    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the replay window is negative
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
     * Returns the attributes in the form used by C.
     *
     * @param arena the arena to allocate from
     * @return a new {@code struct ibv_flow_action_esp_attr}, and the structs that it points to
     */
    MemorySegment toNative(Arena arena) {
        return EspStructs.write(this, arena);
    }

    /** {@return a builder with no attributes set} */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds {@link EspAttributes}. Not thread-safe. */
    public static final class Builder {
        private Optional<EspParameters> parameters = Optional.empty();
        private Optional<EspKeyMaterial> keyMaterial = Optional.empty();
        private OptionalInt replayWindow = OptionalInt.empty();
        private List<FlowMatch> encapsulation = List.of();
        private OptionalInt extendedSequence = OptionalInt.empty();

        private Builder() {
        }

        /**
         * Sets how packets are encrypted or decrypted.
         *
         * @param value the parameters
         * @return this builder
         */
        public Builder parameters(EspParameters value) {
            parameters = Optional.of(value);
            return this;
        }

        /**
         * Sets the key.
         *
         * @param value the key material
         * @return this builder
         */
        public Builder keyMaterial(EspKeyMaterial value) {
            keyMaterial = Optional.of(value);
            return this;
        }

        /**
         * Sets the size of the anti-replay window, for {@link EspFlag#FULL_OFFLOAD}.
         *
         * @param size the number of sequence numbers; 0 for no replay protection
         * @return this builder
         */
        public Builder replayWindow(int size) {
            replayWindow = OptionalInt.of(size);
            return this;
        }

        /**
         * Sets the headers around the packets, for {@link EspFlag#FULL_OFFLOAD}.
         *
         * @param headers the headers, outermost first; the values are used, and the masks ignored
         * @return this builder
         */
        public Builder encapsulation(FlowMatch... headers) {
            encapsulation = List.of(headers);
            return this;
        }

        /**
         * Sets the initial extended sequence number (ESN).
         *
         * @param value its upper 32 bits
         * @return this builder
         */
        public Builder extendedSequence(int value) {
            extendedSequence = OptionalInt.of(value);
            return this;
        }

        /**
         * Builds the attributes.
         *
         * @return the attributes
         * @throws IllegalArgumentException if the replay window is negative
         */
        public EspAttributes build() {
            return new EspAttributes(parameters, keyMaterial, replayWindow, encapsulation, extendedSequence);
        }
    }
}
