// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** A capability of a port in the InfiniBand CapabilityMask ({@code enum ibv_port_cap_flags}, ibv_query_port(3)). */
public enum PortCapability {
    /** The port runs a subnet manager. */
    SM(Rdma.IBV_PORT_SM()),
    /** Notices are supported. */
    NOTICE_SUP(Rdma.IBV_PORT_NOTICE_SUP()),
    /** Traps are supported. */
    TRAP_SUP(Rdma.IBV_PORT_TRAP_SUP()),
    /** Optional inter-packet delays are supported. */
    OPT_IPD_SUP(Rdma.IBV_PORT_OPT_IPD_SUP()),
    /** Automatic path migration is supported. */
    AUTO_MIGR_SUP(Rdma.IBV_PORT_AUTO_MIGR_SUP()),
    /** Mapping of service levels to virtual lanes is supported. */
    SL_MAP_SUP(Rdma.IBV_PORT_SL_MAP_SUP()),
    /** The management key is kept in non-volatile memory. */
    MKEY_NVRAM(Rdma.IBV_PORT_MKEY_NVRAM()),
    /** The partition keys are kept in non-volatile memory. */
    PKEY_NVRAM(Rdma.IBV_PORT_PKEY_NVRAM()),
    /** The port has a LED that can be queried and set. */
    LED_INFO_SUP(Rdma.IBV_PORT_LED_INFO_SUP()),
    /** The system image GUID is supported. */
    SYS_IMAGE_GUID_SUP(Rdma.IBV_PORT_SYS_IMAGE_GUID_SUP()),
    /** Traps for bad partition keys at external switch ports are supported. */
    PKEY_SW_EXT_PORT_TRAP_SUP(Rdma.IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP()),
    /** Extended link speeds (FDR and faster) are supported. */
    EXTENDED_SPEEDS_SUP(Rdma.IBV_PORT_EXTENDED_SPEEDS_SUP()),
    /** The port reports {@linkplain ExtendedPortCapability extended capabilities}. */
    CAP_MASK2_SUP(Rdma.IBV_PORT_CAP_MASK2_SUP()),
    /** The connection manager is supported. */
    CM_SUP(Rdma.IBV_PORT_CM_SUP()),
    /** SNMP tunneling is supported. */
    SNMP_TUNNEL_SUP(Rdma.IBV_PORT_SNMP_TUNNEL_SUP()),
    /** Reinitialization of the port is supported. */
    REINIT_SUP(Rdma.IBV_PORT_REINIT_SUP()),
    /** Device management is supported. */
    DEVICE_MGMT_SUP(Rdma.IBV_PORT_DEVICE_MGMT_SUP()),
    /** Vendor-specific management classes are supported. */
    VENDOR_CLASS_SUP(Rdma.IBV_PORT_VENDOR_CLASS_SUP()),
    /** Notices with directed routes are supported. */
    DR_NOTICE_SUP(Rdma.IBV_PORT_DR_NOTICE_SUP()),
    /** Notices of changed capabilities are supported. */
    CAP_MASK_NOTICE_SUP(Rdma.IBV_PORT_CAP_MASK_NOTICE_SUP()),
    /** Boot management is supported. */
    BOOT_MGMT_SUP(Rdma.IBV_PORT_BOOT_MGMT_SUP()),
    /** The round-trip latency of the link is measured. */
    LINK_LATENCY_SUP(Rdma.IBV_PORT_LINK_LATENCY_SUP()),
    /** The subnet manager can ask clients to repeat their registrations. */
    CLIENT_REG_SUP(Rdma.IBV_PORT_CLIENT_REG_SUP()),
    /** GIDs are derived from IP addresses, as with RoCE. */
    IP_BASED_GIDS(Rdma.IBV_PORT_IP_BASED_GIDS());

    private final int bit;

    PortCapability(int bit) {
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
    public static FlagSet<PortCapability> of(int mask) {
        return FlagSet.of(PortCapability.class, Integer.toUnsignedLong(mask), PortCapability::bit);
    }
}
