// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * How a flow action encrypts or decrypts packets ({@code struct ibv_flow_action_esp}, ibv_flow_action_esp(3)).
 * Immutable. Everything except the flags is only used with {@link EspFlag#FULL_OFFLOAD}. Numbers are in the byte order
 * of the machine.
 *
 * @param flags the options
 * @param securityParametersIndex the security parameters index (SPI), an unsigned 32-bit number
 * @param sequence the lower 32 bits of the initial sequence number
 * @param paddingLength the length of the traffic flow confidentiality padding in bytes (RFC 4303); 0 for none
 * @param hardLimitPackets the number of packets after which all further packets are dropped (RFC 4301)
 */
public record EspParameters(Set<EspFlag> flags, int securityParametersIndex, int sequence, int paddingLength,
        long hardLimitPackets) {
    /** Copies the flags. */
    public EspParameters {
        Set<EspFlag> ordered = EnumSet.noneOf(EspFlag.class);
        ordered.addAll(flags);
        flags = Collections.unmodifiableSet(ordered);
    }

    /**
     * Returns parameters that consist of flags only, for inline crypto (without {@link EspFlag#FULL_OFFLOAD}).
     *
     * @param flags the options
     * @return the parameters, with 0 for all numbers
     */
    public static EspParameters of(EspFlag... flags) {
        return new EspParameters(Set.of(flags), 0, 0, 0, 0);
    }
}
