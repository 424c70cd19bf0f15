// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What a port can do ({@code enum ibv_port_cap_flags2}, ibv_query_port(3)): the InfiniBand CapabilityMask2. */
public enum ExtendedPortCapability {
    /** The node description can be set. */
    SET_NODE_DESC_SUP(Rdma.IBV_PORT_SET_NODE_DESC_SUP()),
    /** Extended port information. */
    INFO_EXT_SUP(Rdma.IBV_PORT_INFO_EXT_SUP()),
    /** Virtual ports. */
    VIRT_SUP(Rdma.IBV_PORT_VIRT_SUP()),
    /** Table of port states of switches. */
    SWITCH_PORT_STATE_TABLE_SUP(Rdma.IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP()),
    /** Link width 2X. */
    LINK_WIDTH_2X_SUP(Rdma.IBV_PORT_LINK_WIDTH_2X_SUP()),
    /** HDR speed. */
    LINK_SPEED_HDR_SUP(Rdma.IBV_PORT_LINK_SPEED_HDR_SUP()),
    /** NDR speed. */
    LINK_SPEED_NDR_SUP(Rdma.IBV_PORT_LINK_SPEED_NDR_SUP());

    private final int bit;

    ExtendedPortCapability(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    public static FlagSet<ExtendedPortCapability> of(int mask) {
        return FlagSet.of(values(), Integer.toUnsignedLong(mask), ExtendedPortCapability::bit);
    }
}
