// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.ibv_device_attr;
import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.address.Guid;
import io.rdmacm.verbs.work.FlagSet;

/**
 * What a device is and its limits ({@code struct ibv_device_attr}, ibv_query_device(3)). A limit is the most that the
 * device could do; how much of it is free is not known before it is tried.
 *
 * @param firmwareVersion its version, as the vendor writes it
 * @param nodeGuid of the device
 * @param systemImageGuid of the whole of which the device is a part
 * @param maxRegionSize the largest memory region in bytes; an unsigned number
 * @param pageSizes the sizes of pages it supports: a bit for each power of two
 * @param vendorId the vendor, an IEEE number
 * @param vendorPartId the vendor's number of the part
 * @param hardwareVersion the vendor's version of the part
 * @param maxQueuePairs the most queue pairs
 * @param maxQueuePairRequests the most outstanding work requests of one queue of a queue pair
 * @param capabilities what it can do
 * @param maxScatterGather the most scatter/gather entries of a work request that is no RDMA read
 * @param maxReadScatterGather the most scatter/gather entries of an RDMA read
 * @param maxCompletionQueues the most completion queues
 * @param maxCompletionQueueEntries the most entries of a completion queue
 * @param maxRegions the most memory regions
 * @param maxProtectionDomains the most protection domains
 * @param maxQueuePairReadAtomic the most RDMA reads and atomics outstanding at one queue pair as their target
 * @param maxEeReadAtomic the same for one EE context
 * @param maxResourceReadAtomic the same for the whole device
 * @param maxQueuePairInitiatorReadAtomic the same for one queue pair as their initiator
 * @param maxEeInitiatorReadAtomic the same for one EE context as their initiator
 * @param atomicCapability how far atomics are atomic
 * @param maxEe the most EE contexts
 * @param maxRdd the most RD domains
 * @param maxMemoryWindows the most memory windows
 * @param maxRawIpv6QueuePairs the most raw IPv6 queue pairs
 * @param maxRawEthernetQueuePairs the most raw Ethertype queue pairs
 * @param maxMulticastGroups the most multicast groups
 * @param maxMulticastQueuePairs the most queue pairs of a multicast group
 * @param maxMulticastAttachments the most queue pairs of all multicast groups
 * @param maxAddressHandles the most address handles
 * @param maxFastRegions the most fast memory regions
 * @param maxMapsPerFastRegion the most maps of a fast memory region before it must be unmapped
 * @param maxSharedReceiveQueues the most shared receive queues
 * @param maxSharedReceiveRequests the most work requests of a shared receive queue
 * @param maxSharedReceiveScatterGather the most scatter/gather entries of its work requests
 * @param maxPartitions the most partitions
 * @param localAckDelay the longest delay before it acknowledges
 * @param physicalPorts ports; 255 for more, see {@link DeviceAttributesEx#physicalPorts}
 */
public record DeviceAttributes(String firmwareVersion, Guid nodeGuid, Guid systemImageGuid, long maxRegionSize,
        long pageSizes, int vendorId, int vendorPartId, int hardwareVersion, int maxQueuePairs,
        int maxQueuePairRequests, FlagSet<DeviceCapability> capabilities, int maxScatterGather,
        int maxReadScatterGather, int maxCompletionQueues, int maxCompletionQueueEntries, int maxRegions,
        int maxProtectionDomains, int maxQueuePairReadAtomic, int maxEeReadAtomic, int maxResourceReadAtomic,
        int maxQueuePairInitiatorReadAtomic, int maxEeInitiatorReadAtomic, AtomicCapability atomicCapability, int maxEe,
        int maxRdd, int maxMemoryWindows, int maxRawIpv6QueuePairs, int maxRawEthernetQueuePairs,
        int maxMulticastGroups, int maxMulticastQueuePairs, int maxMulticastAttachments, int maxAddressHandles,
        int maxFastRegions, int maxMapsPerFastRegion, int maxSharedReceiveQueues, int maxSharedReceiveRequests,
        int maxSharedReceiveScatterGather, int maxPartitions, ExponentialDelay localAckDelay, int physicalPorts) {
}
