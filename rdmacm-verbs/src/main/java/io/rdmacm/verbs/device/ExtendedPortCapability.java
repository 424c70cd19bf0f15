// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** A capability of a port in the InfiniBand CapabilityMask2 ({@code enum ibv_port_cap_flags2}, ibv_query_port(3)). */
public enum ExtendedPortCapability {
    /** The node description can be set. */
    SET_NODE_DESC_SUP(Rdma.IBV_PORT_SET_NODE_DESC_SUP()),
    /** Extended port information (PortInfoExtended) is supported. */
    INFO_EXT_SUP(Rdma.IBV_PORT_INFO_EXT_SUP()),
    /** Port virtualization is supported. */
    VIRT_SUP(Rdma.IBV_PORT_VIRT_SUP()),
    /** The table of switch port states is supported. */
    SWITCH_PORT_STATE_TABLE_SUP(Rdma.IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP()),
    /** The link width 2X is supported. */
    LINK_WIDTH_2X_SUP(Rdma.IBV_PORT_LINK_WIDTH_2X_SUP()),
    /** HDR link speed is supported. */
    LINK_SPEED_HDR_SUP(Rdma.IBV_PORT_LINK_SPEED_HDR_SUP()),
    /** NDR link speed is supported. */
    LINK_SPEED_NDR_SUP(Rdma.IBV_PORT_LINK_SPEED_NDR_SUP()),
    /** XDR link speed is supported. */
    LINK_SPEED_XDR_SUP(Rdma.IBV_PORT_LINK_SPEED_XDR_SUP());

    private final int bit;

    ExtendedPortCapability(int bit) {
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
    public static FlagSet<ExtendedPortCapability> of(int mask) {
        return FlagSet.of(ExtendedPortCapability.class, Integer.toUnsignedLong(mask), ExtendedPortCapability::bit);
    }
}
