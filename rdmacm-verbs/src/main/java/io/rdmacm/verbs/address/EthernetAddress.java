// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.lang.foreign.Arena;
import java.util.OptionalInt;

import io.rdmacm.bindings.ibv_ah_attr;

/**
 * Where a GID is on Ethernet (ibv_resolve_eth_l2_from_gid(3)).
 *
 * @param mac the 6 bytes of the hardware address, as a big-endian number
 * @param vlan the number of the VLAN, when it is in one
 */
public record EthernetAddress(long mac, OptionalInt vlan) {
    private static final int BYTES = 6;

    /** As it is usually written: {@code 02:00:00:00:00:01}, with {@code vlan 7} behind it. */
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
