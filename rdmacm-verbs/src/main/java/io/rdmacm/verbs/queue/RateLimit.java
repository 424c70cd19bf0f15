// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The packet pacing of a queue pair ({@code struct ibv_qp_rate_limit_attr}, ibv_modify_qp_rate_limit(3)).
 *
 * @param kilobitsPerSecond the rate limit in kbit/s; 0 for no limit
 * @param maxBurstBytes the maximum burst size in bytes; 0 for the default of the device
 * @param typicalPacketBytes the typical packet size in bytes, 16 bits; 0 if it is not known
 */
public record RateLimit(int kilobitsPerSecond, int maxBurstBytes, int typicalPacketBytes) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is negative or does not fit into its field
     */
    public RateLimit {
        if (kilobitsPerSecond < 0 || maxBurstBytes < 0) {
            throw new IllegalArgumentException("a rate limit cannot be negative: " + kilobitsPerSecond + " kbit/s, "
                    + maxBurstBytes + " bytes at once");
        }
        Arguments.requireBits("typical packet size", typicalPacketBytes, Short.SIZE);
    }
}
