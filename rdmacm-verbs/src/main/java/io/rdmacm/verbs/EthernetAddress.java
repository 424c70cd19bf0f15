// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.OptionalInt;

import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.verbs.internal.AddressStructs;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * Where a GID is on Ethernet (ibv_resolve_eth_l2_from_gid(3)).
 *
 * @param mac the 6 bytes of the hardware address, as a big-endian number
 * @param vlan the number of the VLAN, when it is in one
 */
public record EthernetAddress(long mac, OptionalInt vlan) {
    private static final NativeFunction RESOLVE = NativeFunction.of("ibv_resolve_eth_l2_from_gid");
    private static final int BYTES = 6;
    private static final int NO_VLAN = 0xffff;

    static EthernetAddress resolve(VerbsContext context, AddressAttributes attributes) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_ah_attr.layout()).address();
            AddressStructs.write(attributes, struct);
            long mac = arena.allocate(Long.BYTES, Long.BYTES).address();
            long vlan = arena.allocate(Short.BYTES, Short.BYTES).address();
            Check.returned(RESOLVE, RESOLVE.callInt(context.address(), struct, mac, vlan));
            int number = Short.toUnsignedInt(Memory.getShort(vlan));
            long bytes = 0;
            for (byte b : Memory.bytes(mac, BYTES)) {
                bytes = bytes << Byte.SIZE | Byte.toUnsignedLong(b);
            }
            return new EthernetAddress(bytes, number == NO_VLAN ? OptionalInt.empty() : OptionalInt.of(number));
        }
    }

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
