// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.time.Duration;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The extended attributes of a device ({@code struct ibv_device_attr_ex}, ibv_query_device_ex(3)). What an older driver
 * does not report is zero or empty.
 *
 * @param basic the basic attributes
 * @param onDemandPaging support of on-demand paging
 * @param completionTimestampMask the significant bits of completion timestamps; 0 if there are no timestamps
 * @param coreClock the frequency of the clock of the device in kHz; 0 if it is not known
 * @param capabilities what the device can do, including the capabilities in the basic attributes
 * @param tso support of TCP segmentation offload
 * @param rss support of receive-side scaling
 * @param maxReceiveWorkQueues the maximum number of receive work queues
 * @param packetPacing the limits of packet pacing
 * @param rawPacket what the device can do with raw packets
 * @param tagMatching support of tag matching
 * @param moderation the limits of completion queue moderation
 * @param maxDeviceMemory the maximum size of device memory in bytes; 0 if there is none
 * @param pciAtomics support of atomic operations over PCI
 * @param xrcOnDemandPaging the XRC operations that support on-demand paging
 * @param physicalPorts the number of physical ports, which may exceed 255
 */
public record DeviceAttributesEx(DeviceAttributes basic, OnDemandPaging onDemandPaging, long completionTimestampMask,
        long coreClock, FlagSet<DeviceCapability> capabilities, Tso tso, Rss rss, int maxReceiveWorkQueues,
        PacketPacing packetPacing, FlagSet<RawPacketCapability> rawPacket, TagMatching tagMatching,
        Moderation moderation, long maxDeviceMemory, PciAtomics pciAtomics, FlagSet<OdpCapability> xrcOnDemandPaging,
        int physicalPorts) {

    /**
     * Support of on-demand paging ({@code struct ibv_odp_caps}, ibv_query_device_ex(3)).
     *
     * @param general the bits of {@code enum ibv_odp_general_caps}, see {@link #supported()} and {@link #implicit()}
     * @param rc the operations of reliable connections that support it
     * @param uc the operations of unreliable connections that support it
     * @param ud the operations of unreliable datagrams that support it
     */
    public record OnDemandPaging(long general, FlagSet<OdpCapability> rc, FlagSet<OdpCapability> uc,
            FlagSet<OdpCapability> ud) {
        /** {@return whether on-demand paging is supported at all} */
        public boolean supported() {
            return (general & Rdma.IBV_ODP_SUPPORT()) != 0;
        }

        /**
         * {@return whether a region may span the whole address space, see
         * {@link io.rdmacm.verbs.ProtectionDomain#registerAllMemory}}
         */
        public boolean implicit() {
            return (general & Rdma.IBV_ODP_SUPPORT_IMPLICIT()) != 0;
        }
    }

    /**
     * Support of TCP segmentation offload ({@code struct ibv_tso_caps}, ibv_query_device_ex(3)).
     *
     * @param maxBytes the maximum payload in bytes; 0 if it is not supported
     * @param queuePairTypes the types of queue pairs that support it
     */
    public record Tso(long maxBytes, FlagSet<QueuePairType> queuePairTypes) {
        /**
         * Returns whether a type of queue pair supports it ({@code ibv_is_qpt_supported}).
         *
         * @param type the type of queue pair
         * @return whether it is among the {@link #queuePairTypes()}
         */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * Support of receive-side scaling ({@code struct ibv_rss_caps}, ibv_query_device_ex(3)).
     *
     * @param queuePairTypes the types of queue pairs that support it
     * @param maxIndirectionTables the maximum number of indirection tables
     * @param maxIndirectionTableSize the maximum number of entries in an indirection table
     * @param hashFields the packet fields that can be hashed
     * @param hashFunctions the supported hash functions ({@code enum ibv_rx_hash_function_flags})
     */
    public record Rss(FlagSet<QueuePairType> queuePairTypes, int maxIndirectionTables, int maxIndirectionTableSize,
            FlagSet<RxHashField> hashFields, FlagSet<RxHashFunction> hashFunctions) {
        /** {@return whether the Toeplitz hash function is supported} */
        public boolean toeplitz() {
            return hashFunctions.contains(RxHashFunction.TOEPLITZ);
        }

        /**
         * Returns whether a type of queue pair supports it ({@code ibv_is_qpt_supported}).
         *
         * @param type the type of queue pair
         * @return whether it is among the {@link #queuePairTypes()}
         */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * The limits of packet pacing ({@code struct ibv_packet_pacing_caps}, ibv_query_device_ex(3)).
     *
     * @param minRate the minimum rate in kbit/s
     * @param maxRate the maximum rate in kbit/s; 0 if packet pacing is not supported
     * @param queuePairTypes the types of queue pairs that support it
     */
    public record PacketPacing(long minRate, long maxRate, FlagSet<QueuePairType> queuePairTypes) {
        /**
         * Returns whether a type of queue pair supports it ({@code ibv_is_qpt_supported}).
         *
         * @param type the type of queue pair
         * @return whether it is among the {@link #queuePairTypes()}
         */
        @CFunction("ibv_is_qpt_supported")
        public boolean supports(QueuePairType type) {
            return queuePairTypes.contains(type);
        }
    }

    /**
     * Support of tag matching ({@code struct ibv_tm_caps}, ibv_query_device_ex(3)).
     *
     * @param maxRendezvousHeader the maximum size of the header of a rendezvous request in bytes
     * @param maxTags the maximum number of tagged buffers in a matching list; 0 if tag matching is not supported
     * @param reliableConnection whether reliable connections support it
     * @param maxOperations the maximum number of outstanding operations on a matching list
     * @param maxScatterGather the maximum number of scatter/gather entries of a tagged buffer
     */
    public record TagMatching(int maxRendezvousHeader, int maxTags, boolean reliableConnection, int maxOperations,
            int maxScatterGather) {
    }

    /**
     * The limits of completion queue moderation ({@code struct ibv_cq_moderation_caps}, ibv_query_device_ex(3)).
     *
     * @param maxCount the maximum number of completions per event
     * @param maxPeriod the maximum time until an event
     */
    public record Moderation(int maxCount, Duration maxPeriod) {
    }

    /**
     * The operand sizes of atomic operations over PCI ({@code struct ibv_pci_atomic_caps}, ibv_query_device_ex(3)).
     *
     * @param fetchAdd the operand sizes of fetch-and-add
     * @param swap the operand sizes of swap
     * @param compareSwap the operand sizes of compare-and-swap
     */
    public record PciAtomics(FlagSet<PciAtomicSize> fetchAdd, FlagSet<PciAtomicSize> swap,
            FlagSet<PciAtomicSize> compareSwap) {
    }
}
