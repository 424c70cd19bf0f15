// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.address.Guid;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The attributes and limits of a device ({@code struct ibv_device_attr}, ibv_query_device(3)). Limits are upper bounds;
 * creating an object can still fail for want of resources.
 *
 * @param firmwareVersion the firmware version, in the vendor's notation
 * @param nodeGuid the GUID of the device
 * @param systemImageGuid the GUID of the system that the device is a part of
 * @param maxRegionSize the maximum size of a memory region in bytes, an unsigned number
 * @param pageSizes the supported page sizes: a bit mask in which bit n stands for pages of 2<sup>n</sup> bytes
 * @param vendorId the vendor, as assigned by the IEEE
 * @param vendorPartId the part number that the vendor assigned
 * @param hardwareVersion the hardware version that the vendor assigned
 * @param maxQueuePairs the maximum number of queue pairs
 * @param maxQueuePairRequests the maximum number of outstanding work requests on each queue of a queue pair
 * @param capabilities what the device can do
 * @param maxScatterGather the maximum number of scatter/gather entries in a work request other than an RDMA read
 * @param maxReadScatterGather the maximum number of scatter/gather entries in an RDMA read
 * @param maxCompletionQueues the maximum number of completion queues
 * @param maxCompletionQueueEntries the maximum number of entries in a completion queue
 * @param maxRegions the maximum number of memory regions
 * @param maxProtectionDomains the maximum number of protection domains
 * @param maxQueuePairReadAtomic the maximum number of outstanding RDMA reads and atomics that a queue pair can serve as
 *         their target
 * @param maxEeReadAtomic the same for an end-to-end (EE) context
 * @param maxResourceReadAtomic the same for the whole device
 * @param maxQueuePairInitiatorReadAtomic the maximum number of outstanding RDMA reads and atomics that a queue pair can
 *         initiate
 * @param maxEeInitiatorReadAtomic the same for an EE context
 * @param atomicCapability the scope in which atomic operations are atomic
 * @param maxEe the maximum number of EE contexts
 * @param maxRdd the maximum number of reliable datagram domains
 * @param maxMemoryWindows the maximum number of memory windows
 * @param maxRawIpv6QueuePairs the maximum number of raw IPv6 queue pairs
 * @param maxRawEthernetQueuePairs the maximum number of raw Ethertype queue pairs
 * @param maxMulticastGroups the maximum number of multicast groups
 * @param maxMulticastQueuePairs the maximum number of queue pairs attached to one multicast group
 * @param maxMulticastAttachments the maximum number of queue pairs attached to all multicast groups together
 * @param maxAddressHandles the maximum number of address handles
 * @param maxFastRegions the maximum number of fast memory regions (FMR)
 * @param maxMapsPerFastRegion the maximum number of times that an FMR can be mapped before it must be unmapped
 * @param maxSharedReceiveQueues the maximum number of shared receive queues
 * @param maxSharedReceiveRequests the maximum number of outstanding work requests on a shared receive queue
 * @param maxSharedReceiveScatterGather the maximum number of scatter/gather entries in such a work request
 * @param maxPartitions the maximum number of partitions
 * @param localAckDelay the maximum time that the device takes to acknowledge a message
 * @param physicalPorts the number of physical ports, at most 255; see {@link DeviceAttributesEx#physicalPorts}
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
