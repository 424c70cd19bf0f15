// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The state and the attributes of a port ({@code struct ibv_port_attr}, ibv_query_port(3)).
 *
 * @param state the logical state; the port can send and receive in {@link PortState#ACTIVE}
 * @param maxMtu the largest MTU that the port supports, in bytes: 256 to 4096
 * @param activeMtu the MTU in use, in bytes: 256 to 4096
 * @param gidTableLength the length of the GID table
 * @param capabilities what the port can do
 * @param maxMessageSize the maximum size of a message in bytes
 * @param badPartitionKeys the number of packets that arrived with a bad partition key
 * @param queueKeyViolations the number of packets that arrived with a wrong queue key
 * @param partitionKeyTableLength the length of the partition key table
 * @param lid the base LID (local identifier); 0 on Ethernet
 * @param subnetManagerLid the LID of the subnet manager
 * @param lidMaskControl the LMC: how many low bits of the LID the port accepts in any combination
 * @param maxVirtualLanes the number of data virtual lanes
 * @param subnetManagerServiceLevel the service level of the subnet manager
 * @param subnetTimeout the maximum time that a packet takes through the subnet
 * @param initTypeReply the type of initialization that the subnet manager performed
 * @param activeWidth the number of lanes in use
 * @param activeSpeed the speed of each lane, at most {@link LinkSpeed#NDR}; see {@link #speed()}
 * @param physicalState the physical state of the link
 * @param linkLayer the link layer
 * @param globalRouteRequired whether all address handles need a global route ({@code IBV_QPF_GRH_REQUIRED})
 * @param extendedCapabilities further capabilities ({@code port_cap_flags2})
 * @param activeSpeedEx the speed of each lane, also beyond {@link LinkSpeed#NDR} ({@code active_speed_ex}); code 0 if
 *         it is not reported, as by releases before rdma-core 49 and older kernels
 */
public record PortAttributes(PortState state, int maxMtu, int activeMtu, int gidTableLength,
        FlagSet<PortCapability> capabilities, long maxMessageSize, long badPartitionKeys, long queueKeyViolations,
        int partitionKeyTableLength, int lid, int subnetManagerLid, int lidMaskControl, VirtualLanes maxVirtualLanes,
        int subnetManagerServiceLevel, ExponentialDelay subnetTimeout, int initTypeReply, LinkWidth activeWidth,
        LinkSpeed activeSpeed, PhysicalState physicalState, LinkLayer linkLayer, boolean globalRouteRequired,
        FlagSet<ExtendedPortCapability> extendedCapabilities, LinkSpeed activeSpeedEx) {
    /** {@return the speed of each lane: {@link #activeSpeedEx} if it is reported, otherwise {@link #activeSpeed}} */
    public LinkSpeed speed() {
        return activeSpeedEx.code() != 0 ? activeSpeedEx : activeSpeed;
    }
}
