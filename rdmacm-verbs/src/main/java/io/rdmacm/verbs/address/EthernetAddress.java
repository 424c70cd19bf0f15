// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.OptionalInt;

/**
 * The Ethernet address that a GID resolves to ({@code ibv_resolve_eth_l2_from_gid}).
 *
 * @param mac the 6 bytes of the MAC address as a number, the first byte on the wire being the most significant
 * @param vlan the VLAN ID; empty if the GID is not in a VLAN
 */
public record EthernetAddress(long mac, OptionalInt vlan) {
    private static final int BYTES = 6;

    /** {@return the usual notation, such as {@code 02:00:00:00:00:01} or {@code 02:00:00:00:00:01 vlan 7}} */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int shift = (BYTES - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
            text.append(text.isEmpty() ? "" : ":").append(String.format("%02x", mac >>> shift & 0xff));
        }
        vlan.ifPresent(number -> text.append(" vlan ").append(number));
        return text.toString();
    }
}
