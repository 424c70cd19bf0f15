// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_device_attr;
import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.address.Guid;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The attributes and limits of a device ({@code struct ibv_device_attr}, ibv_query_device(3)). Limits are upper bounds;
 * creating an object can still fail for want of resources.
 */
public final class DeviceAttributes {
    // a copy on the heap
    private final MemorySegment struct;

    private DeviceAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct ibv_device_attr} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static DeviceAttributes of(MemorySegment struct) {
        return new DeviceAttributes(Memory.heapCopy(struct, ibv_device_attr.sizeof()));
    }

    /** {@return the firmware version, in the vendor's notation} */
    public String firmwareVersion() {
        return ibv_device_attr.fw_ver(struct).getString(0);
    }

    /** {@return the GUID of the device} */
    public Guid nodeGuid() {
        return new Guid(NetworkOrder.toHost(ibv_device_attr.node_guid(struct)));
    }

    /** {@return the GUID of the system that the device is a part of} */
    public Guid systemImageGuid() {
        return new Guid(NetworkOrder.toHost(ibv_device_attr.sys_image_guid(struct)));
    }

    /** {@return the maximum size of a memory region in bytes, an unsigned number} */
    public long maxRegionSize() {
        return ibv_device_attr.max_mr_size(struct);
    }

    /**
     * {@return the supported page sizes: a bit mask in which bit n stands for pages of 2<sup>n</sup> bytes}
     */
    public long pageSizes() {
        return ibv_device_attr.page_size_cap(struct);
    }

    /** {@return the vendor, as assigned by the IEEE} */
    public int vendorId() {
        return ibv_device_attr.vendor_id(struct);
    }

    /** {@return the part number that the vendor assigned} */
    public int vendorPartId() {
        return ibv_device_attr.vendor_part_id(struct);
    }

    /** {@return the hardware version that the vendor assigned} */
    public int hardwareVersion() {
        return ibv_device_attr.hw_ver(struct);
    }

    /** {@return the maximum number of queue pairs} */
    public int maxQueuePairs() {
        return ibv_device_attr.max_qp(struct);
    }

    /** {@return the maximum number of outstanding work requests on each queue of a queue pair} */
    public int maxQueuePairRequests() {
        return ibv_device_attr.max_qp_wr(struct);
    }

    /** {@return what the device can do} */
    public FlagSet<DeviceCapability> capabilities() {
        return DeviceCapability.of(Integer.toUnsignedLong(ibv_device_attr.device_cap_flags(struct)));
    }

    /** {@return the maximum number of scatter/gather entries in a work request other than an RDMA read} */
    public int maxScatterGather() {
        return ibv_device_attr.max_sge(struct);
    }

    /** {@return the maximum number of scatter/gather entries in an RDMA read} */
    public int maxReadScatterGather() {
        return ibv_device_attr.max_sge_rd(struct);
    }

    /** {@return the maximum number of completion queues} */
    public int maxCompletionQueues() {
        return ibv_device_attr.max_cq(struct);
    }

    /** {@return the maximum number of entries in a completion queue} */
    public int maxCompletionQueueEntries() {
        return ibv_device_attr.max_cqe(struct);
    }

    /** {@return the maximum number of memory regions} */
    public int maxRegions() {
        return ibv_device_attr.max_mr(struct);
    }

    /** {@return the maximum number of protection domains} */
    public int maxProtectionDomains() {
        return ibv_device_attr.max_pd(struct);
    }

    /**
     * {@return the maximum number of outstanding RDMA reads and atomics that a queue pair can serve as their target}
     */
    public int maxQueuePairReadAtomic() {
        return ibv_device_attr.max_qp_rd_atom(struct);
    }

    /**
     * {@return the maximum number of outstanding RDMA reads and atomics that an end-to-end (EE) context can serve as
     * their target}
     */
    public int maxEeReadAtomic() {
        return ibv_device_attr.max_ee_rd_atom(struct);
    }

    /**
     * {@return the maximum number of outstanding RDMA reads and atomics that the whole device can serve as their
     * target}
     */
    public int maxResourceReadAtomic() {
        return ibv_device_attr.max_res_rd_atom(struct);
    }

    /** {@return the maximum number of outstanding RDMA reads and atomics that a queue pair can initiate} */
    public int maxQueuePairInitiatorReadAtomic() {
        return ibv_device_attr.max_qp_init_rd_atom(struct);
    }

    /** {@return the maximum number of outstanding RDMA reads and atomics that an EE context can initiate} */
    public int maxEeInitiatorReadAtomic() {
        return ibv_device_attr.max_ee_init_rd_atom(struct);
    }

    /** {@return the scope in which atomic operations are atomic} */
    public AtomicCapability atomicCapability() {
        return AtomicCapability.of(ibv_device_attr.atomic_cap(struct));
    }

    /** {@return the maximum number of EE contexts} */
    public int maxEe() {
        return ibv_device_attr.max_ee(struct);
    }

    /** {@return the maximum number of reliable datagram domains} */
    public int maxRdd() {
        return ibv_device_attr.max_rdd(struct);
    }

    /** {@return the maximum number of memory windows} */
    public int maxMemoryWindows() {
        return ibv_device_attr.max_mw(struct);
    }

    /** {@return the maximum number of raw IPv6 queue pairs} */
    public int maxRawIpv6QueuePairs() {
        return ibv_device_attr.max_raw_ipv6_qp(struct);
    }

    /** {@return the maximum number of raw Ethertype queue pairs} */
    public int maxRawEthernetQueuePairs() {
        return ibv_device_attr.max_raw_ethy_qp(struct);
    }

    /** {@return the maximum number of multicast groups} */
    public int maxMulticastGroups() {
        return ibv_device_attr.max_mcast_grp(struct);
    }

    /** {@return the maximum number of queue pairs attached to one multicast group} */
    public int maxMulticastQueuePairs() {
        return ibv_device_attr.max_mcast_qp_attach(struct);
    }

    /** {@return the maximum number of queue pairs attached to all multicast groups together} */
    public int maxMulticastAttachments() {
        return ibv_device_attr.max_total_mcast_qp_attach(struct);
    }

    /** {@return the maximum number of address handles} */
    public int maxAddressHandles() {
        return ibv_device_attr.max_ah(struct);
    }

    /** {@return the maximum number of fast memory regions (FMR)} */
    public int maxFastRegions() {
        return ibv_device_attr.max_fmr(struct);
    }

    /** {@return the maximum number of times that an FMR can be mapped before it must be unmapped} */
    public int maxMapsPerFastRegion() {
        return ibv_device_attr.max_map_per_fmr(struct);
    }

    /** {@return the maximum number of shared receive queues} */
    public int maxSharedReceiveQueues() {
        return ibv_device_attr.max_srq(struct);
    }

    /** {@return the maximum number of outstanding work requests on a shared receive queue} */
    public int maxSharedReceiveRequests() {
        return ibv_device_attr.max_srq_wr(struct);
    }

    /** {@return the maximum number of scatter/gather entries in such a work request} */
    public int maxSharedReceiveScatterGather() {
        return ibv_device_attr.max_srq_sge(struct);
    }

    /** {@return the maximum number of partitions} */
    public int maxPartitions() {
        return Short.toUnsignedInt(ibv_device_attr.max_pkeys(struct));
    }

    /** {@return the maximum time that the device takes to acknowledge a message} */
    public ExponentialDelay localAckDelay() {
        return new ExponentialDelay(Byte.toUnsignedInt(ibv_device_attr.local_ca_ack_delay(struct)));
    }

    /**
     * {@return the number of physical ports, at most 255; see {@link DeviceAttributesEx#physicalPorts}}
     */
    public int physicalPorts() {
        return Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(struct));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DeviceAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return nodeGuid().hashCode();
    }

    @Override
    public String toString() {
        return "DeviceAttributes[firmwareVersion=" + firmwareVersion() + ", nodeGuid=" + nodeGuid() + ", vendorId=0x"
                + Integer.toHexString(vendorId()) + ", vendorPartId=" + vendorPartId() + ", capabilities="
                + capabilities() + ", atomicCapability=" + atomicCapability() + ", maxQueuePairs=" + maxQueuePairs()
                + ", maxQueuePairRequests=" + maxQueuePairRequests() + ", maxScatterGather=" + maxScatterGather()
                + ", maxCompletionQueueEntries=" + maxCompletionQueueEntries() + ", maxRegions=" + maxRegions()
                + ", physicalPorts=" + physicalPorts() + "]";
    }
}
