// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What a port can do ({@code enum ibv_port_cap_flags}, ibv_query_port(3)): the InfiniBand CapabilityMask. */
public enum PortCapability {
    /** Runs a subnet manager. */
    SM(Rdma.IBV_PORT_SM()),
    /** Notices. */
    NOTICE_SUP(Rdma.IBV_PORT_NOTICE_SUP()),
    /** Traps. */
    TRAP_SUP(Rdma.IBV_PORT_TRAP_SUP()),
    /** Optional inter-packet delays. */
    OPT_IPD_SUP(Rdma.IBV_PORT_OPT_IPD_SUP()),
    /** Automatic path migration. */
    AUTO_MIGR_SUP(Rdma.IBV_PORT_AUTO_MIGR_SUP()),
    /** Service level mapping. */
    SL_MAP_SUP(Rdma.IBV_PORT_SL_MAP_SUP()),
    /** Keeps the management key. */
    MKEY_NVRAM(Rdma.IBV_PORT_MKEY_NVRAM()),
    /** Keeps the partition keys. */
    PKEY_NVRAM(Rdma.IBV_PORT_PKEY_NVRAM()),
    /** Light information. */
    LED_INFO_SUP(Rdma.IBV_PORT_LED_INFO_SUP()),
    /** System image GUID. */
    SYS_IMAGE_GUID_SUP(Rdma.IBV_PORT_SYS_IMAGE_GUID_SUP()),
    /** Traps of partition keys of switches. */
    PKEY_SW_EXT_PORT_TRAP_SUP(Rdma.IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP()),
    /** Extended speeds. */
    EXTENDED_SPEEDS_SUP(Rdma.IBV_PORT_EXTENDED_SPEEDS_SUP()),
    /** Has an {@link ExtendedPortCapability extended mask}. */
    CAP_MASK2_SUP(Rdma.IBV_PORT_CAP_MASK2_SUP()),
    /** Connection manager. */
    CM_SUP(Rdma.IBV_PORT_CM_SUP()),
    /** SNMP tunnels. */
    SNMP_TUNNEL_SUP(Rdma.IBV_PORT_SNMP_TUNNEL_SUP()),
    /** Reinitialization. */
    REINIT_SUP(Rdma.IBV_PORT_REINIT_SUP()),
    /** Device management. */
    DEVICE_MGMT_SUP(Rdma.IBV_PORT_DEVICE_MGMT_SUP()),
    /** Vendor classes. */
    VENDOR_CLASS_SUP(Rdma.IBV_PORT_VENDOR_CLASS_SUP()),
    /** Notices of directed routes. */
    DR_NOTICE_SUP(Rdma.IBV_PORT_DR_NOTICE_SUP()),
    /** Notices of changed capabilities. */
    CAP_MASK_NOTICE_SUP(Rdma.IBV_PORT_CAP_MASK_NOTICE_SUP()),
    /** Boot management. */
    BOOT_MGMT_SUP(Rdma.IBV_PORT_BOOT_MGMT_SUP()),
    /** Link latency. */
    LINK_LATENCY_SUP(Rdma.IBV_PORT_LINK_LATENCY_SUP()),
    /** Client reregistration. */
    CLIENT_REG_SUP(Rdma.IBV_PORT_CLIENT_REG_SUP()),
    /** GIDs are made of IP addresses: RoCE. */
    IP_BASED_GIDS(Rdma.IBV_PORT_IP_BASED_GIDS());

    private final int bit;

    PortCapability(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    public static FlagSet<PortCapability> of(int mask) {
        return FlagSet.of(values(), Integer.toUnsignedLong(mask), PortCapability::bit);
    }
}
