// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * The Ethernet header that packets of a flow have ({@code struct ibv_flow_spec_eth}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class EthernetMatch extends FlowMatch {
    EthernetMatch(FlowFields fields) {
        super(fields);
    }

    /** The destination's hardware address, 6 bytes as a big-endian number. */
    public EthernetMatch destination(long mac) {
        return new EthernetMatch(fields().with(FlowField.ETH_DST_MAC, mac));
    }

    /** Those bits of {@link #destination(long)} that are set in a mask. */
    public EthernetMatch destination(long mac, long mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_DST_MAC, mac, mask));
    }

    /** The source's hardware address, 6 bytes as a big-endian number. */
    public EthernetMatch source(long mac) {
        return new EthernetMatch(fields().with(FlowField.ETH_SRC_MAC, mac));
    }

    /** Those bits of {@link #source(long)} that are set in a mask. */
    public EthernetMatch source(long mac, long mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_SRC_MAC, mac, mask));
    }

    /** What follows the last VLAN tag, 16 bits: 0x800 for IPv4, 0x86dd for IPv6. */
    public EthernetMatch etherType(int type) {
        return new EthernetMatch(fields().with(FlowField.ETH_ETHER_TYPE, type));
    }

    /** Those bits of {@link #etherType(int)} that are set in a mask. */
    public EthernetMatch etherType(int type, int mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_ETHER_TYPE, type, mask));
    }

    /** The VLAN tag, 16 bits: 3 of priority, 1 for what may be dropped, 12 of the VLAN's number. */
    public EthernetMatch vlanTag(int tag) {
        return new EthernetMatch(fields().with(FlowField.ETH_VLAN_TAG, tag));
    }

    /** Those bits of {@link #vlanTag(int)} that are set in a mask. */
    public EthernetMatch vlanTag(int tag, int mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_VLAN_TAG, tag, mask));
    }

    @Override
    public EthernetMatch inner() {
        return new EthernetMatch(fields().ofInner());
    }
}
