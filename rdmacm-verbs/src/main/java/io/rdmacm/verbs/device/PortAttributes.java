// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.work.FlagSet;

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
}
