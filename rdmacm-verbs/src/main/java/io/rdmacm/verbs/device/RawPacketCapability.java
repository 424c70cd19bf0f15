// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What a device can do with raw packets ({@code enum ibv_raw_packet_caps}, ibv_query_device_ex(3)). */
public enum RawPacketCapability {
    /** Takes VLAN tags off. */
    CVLAN_STRIPPING(Rdma.IBV_RAW_PACKET_CAP_CVLAN_STRIPPING()),
    /** Scatters the frame check sequence. */
    SCATTER_FCS(Rdma.IBV_RAW_PACKET_CAP_SCATTER_FCS()),
    /** Checksums IP. */
    IP_CSUM(Rdma.IBV_RAW_PACKET_CAP_IP_CSUM()),
    /** Waits before it drops packets. */
    DELAY_DROP(Rdma.IBV_RAW_PACKET_CAP_DELAY_DROP());

    private final int bit;

    RawPacketCapability(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    public static FlagSet<RawPacketCapability> of(int mask) {
        return FlagSet.of(values(), Integer.toUnsignedLong(mask), RawPacketCapability::bit);
    }
}
