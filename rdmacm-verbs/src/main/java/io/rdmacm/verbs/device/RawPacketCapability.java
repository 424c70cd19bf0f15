// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What a device can do with raw packets ({@code enum ibv_raw_packet_caps}, ibv_query_device_ex(3)). */
public enum RawPacketCapability {
    /** VLAN tags can be stripped. */
    CVLAN_STRIPPING(Rdma.IBV_RAW_PACKET_CAP_CVLAN_STRIPPING()),
    /** The frame check sequence can be scattered to memory. */
    SCATTER_FCS(Rdma.IBV_RAW_PACKET_CAP_SCATTER_FCS()),
    /** IP checksums can be offloaded. */
    IP_CSUM(Rdma.IBV_RAW_PACKET_CAP_IP_CSUM()),
    /** The device can delay before it drops packets for want of receive requests. */
    DELAY_DROP(Rdma.IBV_RAW_PACKET_CAP_DELAY_DROP());

    private final int bit;

    RawPacketCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the capabilities in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the capabilities; keeps bits that this library has no name for
     */
    public static FlagSet<RawPacketCapability> of(int mask) {
        return FlagSet.of(RawPacketCapability.class, Integer.toUnsignedLong(mask), RawPacketCapability::bit);
    }
}
