// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** A packet field that receive-side scaling can hash ({@code enum ibv_rx_hash_fields}, ibv_create_qp_ex(3)). */
public enum RxHashField {
    /** IPv4 source address. */
    SRC_IPV4(Rdma.IBV_RX_HASH_SRC_IPV4()),
    /** IPv4 destination address. */
    DST_IPV4(Rdma.IBV_RX_HASH_DST_IPV4()),
    /** IPv6 source address. */
    SRC_IPV6(Rdma.IBV_RX_HASH_SRC_IPV6()),
    /** IPv6 destination address. */
    DST_IPV6(Rdma.IBV_RX_HASH_DST_IPV6()),
    /** TCP source port. */
    SRC_PORT_TCP(Rdma.IBV_RX_HASH_SRC_PORT_TCP()),
    /** TCP destination port. */
    DST_PORT_TCP(Rdma.IBV_RX_HASH_DST_PORT_TCP()),
    /** UDP source port. */
    SRC_PORT_UDP(Rdma.IBV_RX_HASH_SRC_PORT_UDP()),
    /** UDP destination port. */
    DST_PORT_UDP(Rdma.IBV_RX_HASH_DST_PORT_UDP()),
    /** IPsec security parameter index. */
    IPSEC_SPI(Rdma.IBV_RX_HASH_IPSEC_SPI()),
    /** Hash the fields of the inner packet of a tunnel. */
    INNER(Rdma.IBV_RX_HASH_INNER());

    private final int bit;

    RxHashField(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the fields in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the fields; keeps bits that this library has no name for
     */
    public static FlagSet<RxHashField> of(long mask) {
        return FlagSet.of(RxHashField.class, mask, field -> Integer.toUnsignedLong(field.bit));
    }
}
