// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.internal.Memory;

/**
 * What a port is and the state it is in ({@code struct ibv_port_attr}, ibv_query_port(3)).
 *
 * @param state whether it can be used
 * @param maxMtu the largest packet it could send, in bytes: 256 to 4096
 * @param activeMtu the largest packet it sends now, in bytes: 256 to 4096
 * @param gidTableLength how many GIDs there may be
 * @param capabilities what it can do
 * @param maxMessageSize the longest message in bytes
 * @param badPartitionKeys how many packets with a wrong partition key came
 * @param queueKeyViolations how many packets with a wrong queue key came
 * @param partitionKeyTableLength how many partition keys there may be
 * @param lid its local identifier; 0 on Ethernet
 * @param subnetManagerLid the local identifier of the subnet manager
 * @param lidMaskControl how many low bits of the local identifier are free
 * @param maxVirtualLanes how many virtual lanes it has
 * @param subnetManagerServiceLevel the service level of the subnet manager
 * @param subnetTimeout the longest time through the subnet
 * @param initTypeReply how it was initialized
 * @param activeWidth how many lanes the link has now
 * @param activeSpeed how fast each lane is now
 * @param physicalState the physical state of the link
 * @param linkLayer what it is connected with
 * @param globalRouteRequired whether addresses need a global route ({@code IBV_QPF_GRH_REQUIRED})
 * @param extendedCapabilities what else it can do
 */
public record PortAttributes(PortState state, int maxMtu, int activeMtu, int gidTableLength,
        FlagSet<PortCapability> capabilities, long maxMessageSize, long badPartitionKeys, long queueKeyViolations,
        int partitionKeyTableLength, int lid, int subnetManagerLid, int lidMaskControl, VirtualLanes maxVirtualLanes,
        int subnetManagerServiceLevel, ExponentialDelay subnetTimeout, int initTypeReply, LinkWidth activeWidth,
        LinkSpeed activeSpeed, PhysicalState physicalState, LinkLayer linkLayer, boolean globalRouteRequired,
        FlagSet<ExtendedPortCapability> extendedCapabilities) {
    private static final int MTU_BASE = 128;

    static PortAttributes read(long address) {
        return new PortAttributes(PortState.of(Memory.getInt(address + ibv_port_attr.state$offset())),
                mtu(address + ibv_port_attr.max_mtu$offset()), mtu(address + ibv_port_attr.active_mtu$offset()),
                Memory.getInt(address + ibv_port_attr.gid_tbl_len$offset()),
                PortCapability.of(Memory.getInt(address + ibv_port_attr.port_cap_flags$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.max_msg_sz$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.bad_pkey_cntr$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.qkey_viol_cntr$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.pkey_tbl_len$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.lid$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.sm_lid$offset())),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.lmc$offset())),
                new VirtualLanes(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.max_vl_num$offset()))),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.sm_sl$offset())),
                new ExponentialDelay(
                        Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.subnet_timeout$offset()))),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.init_type_reply$offset())),
                new LinkWidth(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.active_width$offset()))),
                new LinkSpeed(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.active_speed$offset()))),
                new PhysicalState(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.phys_state$offset()))),
                LinkLayer.of(Memory.getByte(address + ibv_port_attr.link_layer$offset())),
                (Memory.getByte(address + ibv_port_attr.flags$offset()) & Rdma.IBV_QPF_GRH_REQUIRED()) != 0,
                ExtendedPortCapability.of(
                        Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.port_cap_flags2$offset()))));
    }

    /** {@code enum ibv_mtu} counts the powers of two from 256 on. */
    private static int mtu(long address) {
        int code = Memory.getInt(address);
        return code == 0 ? 0 : MTU_BASE << code;
    }
}
