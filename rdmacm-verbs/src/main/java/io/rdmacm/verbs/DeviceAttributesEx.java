// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_moderation_caps;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_odp_caps;
import io.rdmacm.bindings.ibv_packet_pacing_caps;
import io.rdmacm.bindings.ibv_pci_atomic_caps;
import io.rdmacm.bindings.ibv_rss_caps;
import io.rdmacm.bindings.ibv_tm_caps;
import io.rdmacm.bindings.ibv_tso_caps;
import io.rdmacm.verbs.internal.Memory;

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

        static OnDemandPaging read(long address) {
            long transports = address + ibv_odp_caps.per_transport_caps$offset();
            return new OnDemandPaging(Memory.getLong(address + ibv_odp_caps.general_caps$offset()),
                    odp(transports + ibv_odp_caps.per_transport_caps.rc_odp_caps$offset()),
                    odp(transports + ibv_odp_caps.per_transport_caps.uc_odp_caps$offset()),
                    odp(transports + ibv_odp_caps.per_transport_caps.ud_odp_caps$offset()));
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

        static Tso read(long address) {
            return new Tso(unsigned(address + ibv_tso_caps.max_tso$offset()),
                    typesOf(Memory.getInt(address + ibv_tso_caps.supported_qpts$offset())));
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

        static Rss read(long address) {
            return new Rss(typesOf(Memory.getInt(address + ibv_rss_caps.supported_qpts$offset())),
                    Memory.getInt(address + ibv_rss_caps.max_rwq_indirection_tables$offset()),
                    Memory.getInt(address + ibv_rss_caps.max_rwq_indirection_table_size$offset()),
                    RxHashField.of(Memory.getLong(address + ibv_rss_caps.rx_hash_fields_mask$offset())),
                    RxHashFunction.of(
                            Byte.toUnsignedInt(Memory.getByte(address + ibv_rss_caps.rx_hash_function$offset()))));
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

        static PacketPacing read(long address) {
            return new PacketPacing(unsigned(address + ibv_packet_pacing_caps.qp_rate_limit_min$offset()),
                    unsigned(address + ibv_packet_pacing_caps.qp_rate_limit_max$offset()),
                    typesOf(Memory.getInt(address + ibv_packet_pacing_caps.supported_qpts$offset())));
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
        static TagMatching read(long address) {
            return new TagMatching(Memory.getInt(address + ibv_tm_caps.max_rndv_hdr_size$offset()),
                    Memory.getInt(address + ibv_tm_caps.max_num_tags$offset()),
                    (Memory.getInt(address + ibv_tm_caps.flags$offset()) & Rdma.IBV_TM_CAP_RC()) != 0,
                    Memory.getInt(address + ibv_tm_caps.max_ops$offset()),
                    Memory.getInt(address + ibv_tm_caps.max_sge$offset()));
        }
    }

    /**
     * Moderation of completion queues ({@code struct ibv_cq_moderation_caps}).
     *
     * @param maxCount the most completions for one event
     * @param maxPeriod the longest time until an event in microseconds
     */
    public record Moderation(int maxCount, int maxPeriod) {
        static Moderation read(long address) {
            return new Moderation(
                    Short.toUnsignedInt(Memory.getShort(address + ibv_cq_moderation_caps.max_cq_count$offset())),
                    Short.toUnsignedInt(Memory.getShort(address + ibv_cq_moderation_caps.max_cq_period$offset())));
        }
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
        static PciAtomics read(long address) {
            return new PciAtomics(sizes(address + ibv_pci_atomic_caps.fetch_add$offset()),
                    sizes(address + ibv_pci_atomic_caps.swap$offset()),
                    sizes(address + ibv_pci_atomic_caps.compare_swap$offset()));
        }

        private static FlagSet<PciAtomicSize> sizes(long address) {
            return PciAtomicSize.of(Short.toUnsignedInt(Memory.getShort(address)));
        }
    }

    static DeviceAttributesEx read(long address) {
        return new DeviceAttributesEx(DeviceAttributes.read(address + ibv_device_attr_ex.orig_attr$offset()),
                OnDemandPaging.read(address + ibv_device_attr_ex.odp_caps$offset()),
                Memory.getLong(address + ibv_device_attr_ex.completion_timestamp_mask$offset()),
                Memory.getLong(address + ibv_device_attr_ex.hca_core_clock$offset()),
                DeviceCapability.of(Memory.getLong(address + ibv_device_attr_ex.device_cap_flags_ex$offset())),
                Tso.read(address + ibv_device_attr_ex.tso_caps$offset()),
                Rss.read(address + ibv_device_attr_ex.rss_caps$offset()),
                Memory.getInt(address + ibv_device_attr_ex.max_wq_type_rq$offset()),
                PacketPacing.read(address + ibv_device_attr_ex.packet_pacing_caps$offset()),
                RawPacketCapability.of(Memory.getInt(address + ibv_device_attr_ex.raw_packet_caps$offset())),
                TagMatching.read(address + ibv_device_attr_ex.tm_caps$offset()),
                Moderation.read(address + ibv_device_attr_ex.cq_mod_caps$offset()),
                Memory.getLong(address + ibv_device_attr_ex.max_dm_size$offset()),
                PciAtomics.read(address + ibv_device_attr_ex.pci_atomic_caps$offset()),
                odp(address + ibv_device_attr_ex.xrc_odp_caps$offset()),
                Memory.getInt(address + ibv_device_attr_ex.phys_port_cnt_ex$offset()));
    }

    private static FlagSet<OdpCapability> odp(long address) {
        return OdpCapability.of(Memory.getInt(address));
    }

    private static long unsigned(long address) {
        return Integer.toUnsignedLong(Memory.getInt(address));
    }

    /** The types of queue pairs of a mask, with a bit for each as ibv_is_qpt_supported(3) tests it. */
    static FlagSet<QueuePairType> typesOf(int mask) {
        return FlagSet.of(QueuePairType.values(), Integer.toUnsignedLong(mask),
                type -> Integer.toUnsignedLong(1 << type.value()));
    }
}
