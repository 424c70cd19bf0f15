// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How fast a queue pair may send ({@code struct ibv_qp_rate_limit_attr}, ibv_modify_qp_rate_limit(3)).
 *
 * @param kilobitsPerSecond 0 for no limit
 * @param maxBurstBytes how much it may send at once; 0 for the device's own
 * @param typicalPacketBytes the usual size of its packets, 16 bits; 0 when it is not known
 */
public record RateLimit(int kilobitsPerSecond, int maxBurstBytes, int typicalPacketBytes) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is negative or does not fit into its field
     */
    public RateLimit {
        if (kilobitsPerSecond < 0 || maxBurstBytes < 0) {
            throw new IllegalArgumentException("a rate limit cannot be negative: " + kilobitsPerSecond + " kbit/s, "
                    + maxBurstBytes + " bytes at once");
        }
        Arguments.requireBits("typical packet size", typicalPacketBytes, Short.SIZE);
    }
}
