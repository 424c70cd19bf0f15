// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * Matches the Ethernet header of packets ({@code struct ibv_flow_spec_eth}, ibv_create_flow(3)). Created by
 * {@link FlowMatch}. Immutable.
 */
public final class EthernetMatch extends FlowMatch {
    EthernetMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the destination MAC address.
     *
     * @param mac the 6 bytes of the address as a number, the first byte on the wire being the most significant
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 48 bits
     */
    public EthernetMatch destination(long mac) {
        return new EthernetMatch(fields().with(FlowField.ETH_DST_MAC, mac));
    }

    /**
     * Matches those bits of the destination MAC address that are set in a mask.
     *
     * @param mac the 6 bytes of the address as a number, the first byte on the wire being the most significant
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 48 bits
     */
    public EthernetMatch destination(long mac, long mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_DST_MAC, mac, mask));
    }

    /**
     * Matches the source MAC address.
     *
     * @param mac the 6 bytes of the address as a number, the first byte on the wire being the most significant
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 48 bits
     */
    public EthernetMatch source(long mac) {
        return new EthernetMatch(fields().with(FlowField.ETH_SRC_MAC, mac));
    }

    /**
     * Matches those bits of the source MAC address that are set in a mask.
     *
     * @param mac the 6 bytes of the address as a number, the first byte on the wire being the most significant
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 48 bits
     */
    public EthernetMatch source(long mac, long mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_SRC_MAC, mac, mask));
    }

    /**
     * Matches the EtherType that follows the last VLAN tag.
     *
     * @param type the EtherType, 16 bits: 0x800 for IPv4, 0x86dd for IPv6
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public EthernetMatch etherType(int type) {
        return new EthernetMatch(fields().with(FlowField.ETH_ETHER_TYPE, type));
    }

    /**
     * Matches those bits of the EtherType that follows the last VLAN tag that are set in a mask.
     *
     * @param type the EtherType, 16 bits: 0x800 for IPv4, 0x86dd for IPv6
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public EthernetMatch etherType(int type, int mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_ETHER_TYPE, type, mask));
    }

    /**
     * Matches the VLAN tag.
     *
     * @param tag the tag, 16 bits: 3 bits of priority, 1 drop eligible bit, 12 bits of VLAN ID
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public EthernetMatch vlanTag(int tag) {
        return new EthernetMatch(fields().with(FlowField.ETH_VLAN_TAG, tag));
    }

    /**
     * Matches those bits of the VLAN tag that are set in a mask.
     *
     * @param tag the tag, 16 bits: 3 bits of priority, 1 drop eligible bit, 12 bits of VLAN ID
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public EthernetMatch vlanTag(int tag, int mask) {
        return new EthernetMatch(fields().with(FlowField.ETH_VLAN_TAG, tag, mask));
    }

    @Override
    public EthernetMatch inner() {
        return new EthernetMatch(fields().ofInner());
    }
}
