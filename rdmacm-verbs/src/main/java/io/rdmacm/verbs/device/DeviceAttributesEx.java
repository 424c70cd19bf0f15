// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_moderation_caps;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_odp_caps;
import io.rdmacm.bindings.ibv_packet_pacing_caps;
import io.rdmacm.bindings.ibv_pci_atomic_caps;
import io.rdmacm.bindings.ibv_rss_caps;
import io.rdmacm.bindings.ibv_tm_caps;
import io.rdmacm.bindings.ibv_tso_caps;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.FlagSet;

/**
 * What a device can do beyond the {@link DeviceAttributes} ({@code struct ibv_device_attr_ex},
 * ibv_query_device_ex(3)). What an older driver does not know of is zero or empty.
 *
 * @param basic what every device tells
 * @param onDemandPaging on-demand paging
 * @param completionTimestampMask the bits of completion timestamps that count; 0 for no timestamps
 * @param coreClock the frequency of the device's clock in kHz; 0 when not known
 * @param capabilities what it can do, those of the basic attributes too
 * @param tso TCP segmentation
 * @param rss receive-side scaling
 * @param maxReceiveWorkQueues the most receive work queues
 * @param packetPacing limits of the rate of sending
 * @param rawPacket what it can do with raw packets
 * @param tagMatching tag matching
 * @param moderation moderation of completion queues
 * @param maxDeviceMemory the largest device memory in bytes; 0 for none
 * @param pciAtomics atomics over PCI
 * @param xrcOnDemandPaging what on-demand paging is good for with extended reliable connections
 * @param physicalPorts ports, also more than 255
 */
public record DeviceAttributesEx(DeviceAttributes basic, OnDemandPaging onDemandPaging, long completionTimestampMask,
        long coreClock, FlagSet<DeviceCapability> capabilities, Tso tso, Rss rss, int maxReceiveWorkQueues,
        PacketPacing packetPacing, FlagSet<RawPacketCapability> rawPacket, TagMatching tagMatching,
        Moderation moderation, long maxDeviceMemory, PciAtomics pciAtomics, FlagSet<OdpCapability> xrcOnDemandPaging,
        int physicalPorts) {

    /**
     * On-demand paging ({@code struct ibv_odp_caps}).
     *
     * @param general the bits of {@code enum ibv_odp_general_caps}, see {@link #supported()} and {@link #implicit()}
     * @param rc what it is good for with reliable connections
     * @param uc what it is good for with unreliable connections
     * @param ud what it is good for with datagrams
     */
    public record OnDemandPaging(long general, FlagSet<OdpCapability> rc, FlagSet<OdpCapability> uc,
            FlagSet<OdpCapability> ud) {
        /** Whether there is any. */
        public boolean supported() {
            return (general & Rdma.IBV_ODP_SUPPORT()) != 0;
        }

        /** Whether a region may span the whole address space, see {@link ProtectionDomain#registerAllMemory}. */
        public boolean implicit() {
            return (general & Rdma.IBV_ODP_SUPPORT_IMPLICIT()) != 0;
        }
    }

    /**
     * TCP segmentation ({@code struct ibv_tso_caps}).
     *
     * @param maxBytes the longest payload in bytes
     * @param queuePairTypes the types of queue pairs that have it
     */
    public record Tso(long maxBytes, FlagSet<QueuePairType> queuePairTypes) {
        /** Whether a type of queue pair has it ({@code ibv_is_qpt_supported}). */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * Receive-side scaling ({@code struct ibv_rss_caps}).
     *
     * @param queuePairTypes the types of queue pairs that have it
     * @param maxIndirectionTables the most indirection tables
     * @param maxIndirectionTableSize the most work queues of one
     * @param hashFields what can be hashed
     * @param hashFunctions how it can be hashed ({@code enum ibv_rx_hash_function_flags})
     */
    public record Rss(FlagSet<QueuePairType> queuePairTypes, int maxIndirectionTables, int maxIndirectionTableSize,
            FlagSet<RxHashField> hashFields, FlagSet<RxHashFunction> hashFunctions) {
        /** Whether the Toeplitz hash is there. */
        public boolean toeplitz() {
            return hashFunctions.contains(RxHashFunction.TOEPLITZ);
        }

        /** Whether a type of queue pair has it ({@code ibv_is_qpt_supported}). */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * Limits of the rate of sending ({@code struct ibv_packet_pacing_caps}).
     *
     * @param minRate the lowest in kbit/s
     * @param maxRate the highest in kbit/s; 0 when the rate cannot be limited
     * @param queuePairTypes the types of queue pairs that have it
     */
    public record PacketPacing(long minRate, long maxRate, FlagSet<QueuePairType> queuePairTypes) {
        /** Whether a type of queue pair has it ({@code ibv_is_qpt_supported}). */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * Tag matching ({@code struct ibv_tm_caps}).
     *
     * @param maxRendezvousHeader the longest header of a rendezvous in bytes
     * @param maxTags the most tagged buffers of a list; 0 for no tag matching
     * @param reliableConnection whether reliable connections have it
     * @param maxOperations the most outstanding operations on a list
     * @param maxScatterGather the most scatter/gather entries of a tagged buffer
     */
    public record TagMatching(int maxRendezvousHeader, int maxTags, boolean reliableConnection, int maxOperations,
            int maxScatterGather) {
    }

    /**
     * Moderation of completion queues ({@code struct ibv_cq_moderation_caps}).
     *
     * @param maxCount the most completions for one event
     * @param maxPeriod the longest time until an event in microseconds
     */
    public record Moderation(int maxCount, int maxPeriod) {
    }

    /**
     * Atomics over PCI ({@code struct ibv_pci_atomic_caps}).
     *
     * @param fetchAdd the sizes of fetch-and-add
     * @param swap the sizes of swap
     * @param compareSwap the sizes of compare-and-swap
     */
    public record PciAtomics(FlagSet<PciAtomicSize> fetchAdd, FlagSet<PciAtomicSize> swap,
            FlagSet<PciAtomicSize> compareSwap) {
    }
}
