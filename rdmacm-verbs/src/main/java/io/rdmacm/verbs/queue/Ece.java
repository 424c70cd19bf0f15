// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * Options of enhanced connection establishment ({@code struct ibv_ece}, ibv_query_ece(3)): two devices of one vendor
 * agree on features of theirs while they connect.
 *
 * @param vendorId the vendor of the device; an unsigned number, 0 for none
 * @param options bits whose meaning is the vendor's
 */
public record Ece(int vendorId, int options) {
    @Override
    public String toString() {
        return "Ece[vendorId=0x" + Integer.toHexString(vendorId) + ", options=0x" + Integer.toHexString(options) + "]";
    }
}
