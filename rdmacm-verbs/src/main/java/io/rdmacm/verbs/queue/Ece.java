// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * Options of enhanced connection establishment, ECE ({@code struct ibv_ece}, ibv_query_ece(3)): two devices of the same
 * vendor use them to agree on vendor-specific features while they connect.
 *
 * @param vendorId the vendor of the device, an unsigned 32-bit number; 0 for none
 * @param options 32 bits whose meaning is defined by the vendor
 */
public record Ece(int vendorId, int options) {
    @Override
    public String toString() {
        return "Ece[vendorId=0x" + Integer.toHexString(vendorId) + ", options=0x" + Integer.toHexString(options) + "]";
    }
}
