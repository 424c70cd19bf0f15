// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * How a flow action encrypts or decrypts ({@code struct ibv_flow_action_esp}, ibv_create_flow_action(3)). Immutable.
 * All numbers but the flags are used with {@link EspFlag#FULL_OFFLOAD} only, and are in the byte order of the machine.
 *
 * @param flags the way of working
 * @param securityParametersIndex 32 bits, as unsigned
 * @param sequence the sequence number to begin with, the lower 32 bits
 * @param paddingLength how much padding hides the length of the traffic (RFC 4303); 0 for none
 * @param hardLimitPackets after so many packets all others are dropped (RFC 4301)
 */
public record EspParameters(Set<EspFlag> flags, int securityParametersIndex, int sequence, int paddingLength,
        long hardLimitPackets) {
    /** Copies the flags. */
    public EspParameters {
        Set<EspFlag> ordered = EnumSet.noneOf(EspFlag.class);
        ordered.addAll(flags);
        flags = Collections.unmodifiableSet(ordered);
    }

    /** Those that need no number: without {@link EspFlag#FULL_OFFLOAD}. */
    public static EspParameters of(EspFlag... flags) {
        return new EspParameters(Set.of(flags), 0, 0, 0, 0);
    }
}
