// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

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
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The extended attributes of a device ({@code struct ibv_device_attr_ex}, ibv_query_device_ex(3)). What an older driver
 * does not report is zero or empty.
 */
public final class DeviceAttributesEx {
    // a copy on the heap
    private final MemorySegment struct;

    private DeviceAttributesEx(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct ibv_device_attr_ex} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static DeviceAttributesEx of(MemorySegment struct) {
        return new DeviceAttributesEx(Memory.heapCopy(struct, ibv_device_attr_ex.sizeof()));
    }

    /** {@return the basic attributes} */
    public DeviceAttributes basic() {
        return DeviceAttributes.of(ibv_device_attr_ex.orig_attr(struct));
    }

    /** {@return support of on-demand paging} */
    public OnDemandPaging onDemandPaging() {
        MemorySegment caps = ibv_device_attr_ex.odp_caps(struct);
        MemorySegment transports = ibv_odp_caps.per_transport_caps(caps);
        return new OnDemandPaging(ibv_odp_caps.general_caps(caps),
                OdpCapability.of(ibv_odp_caps.per_transport_caps.rc_odp_caps(transports)),
                OdpCapability.of(ibv_odp_caps.per_transport_caps.uc_odp_caps(transports)),
                OdpCapability.of(ibv_odp_caps.per_transport_caps.ud_odp_caps(transports)));
    }

    /** {@return the significant bits of completion timestamps; 0 if there are no timestamps} */
    public long completionTimestampMask() {
        return ibv_device_attr_ex.completion_timestamp_mask(struct);
    }

    /** {@return the frequency of the clock of the device in kHz; 0 if it is not known} */
    public long coreClock() {
        return ibv_device_attr_ex.hca_core_clock(struct);
    }

    /** {@return what the device can do, including the capabilities in the basic attributes} */
    public FlagSet<DeviceCapability> capabilities() {
        return DeviceCapability.of(ibv_device_attr_ex.device_cap_flags_ex(struct));
    }

    /** {@return support of TCP segmentation offload} */
    public Tso tso() {
        MemorySegment caps = ibv_device_attr_ex.tso_caps(struct);
        return new Tso(Integer.toUnsignedLong(ibv_tso_caps.max_tso(caps)),
                QueuePairType.ofMask(ibv_tso_caps.supported_qpts(caps)));
    }

    /** {@return support of receive-side scaling} */
    public Rss rss() {
        MemorySegment caps = ibv_device_attr_ex.rss_caps(struct);
        return new Rss(QueuePairType.ofMask(ibv_rss_caps.supported_qpts(caps)),
                ibv_rss_caps.max_rwq_indirection_tables(caps), ibv_rss_caps.max_rwq_indirection_table_size(caps),
                RxHashField.of(ibv_rss_caps.rx_hash_fields_mask(caps)),
                RxHashFunction.of(Byte.toUnsignedInt(ibv_rss_caps.rx_hash_function(caps))));
    }

    /** {@return the maximum number of receive work queues} */
    public int maxReceiveWorkQueues() {
        return ibv_device_attr_ex.max_wq_type_rq(struct);
    }

    /** {@return the limits of packet pacing} */
    public PacketPacing packetPacing() {
        MemorySegment caps = ibv_device_attr_ex.packet_pacing_caps(struct);
        return new PacketPacing(Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_min(caps)),
                Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_max(caps)),
                QueuePairType.ofMask(ibv_packet_pacing_caps.supported_qpts(caps)));
    }

    /** {@return what the device can do with raw packets} */
    public FlagSet<RawPacketCapability> rawPacket() {
        return RawPacketCapability.of(ibv_device_attr_ex.raw_packet_caps(struct));
    }

    /** {@return support of tag matching} */
    public TagMatching tagMatching() {
        MemorySegment caps = ibv_device_attr_ex.tm_caps(struct);
        return new TagMatching(ibv_tm_caps.max_rndv_hdr_size(caps), ibv_tm_caps.max_num_tags(caps),
                (ibv_tm_caps.flags(caps) & Rdma.IBV_TM_CAP_RC()) != 0, ibv_tm_caps.max_ops(caps),
                ibv_tm_caps.max_sge(caps));
    }

    /** {@return the limits of completion queue moderation} */
    public Moderation moderation() {
        MemorySegment caps = ibv_device_attr_ex.cq_mod_caps(struct);
        return new Moderation(Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_count(caps)),
                Duration.of(Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_period(caps)), ChronoUnit.MICROS));
    }

    /** {@return the maximum size of device memory in bytes; 0 if there is none} */
    public long maxDeviceMemory() {
        return ibv_device_attr_ex.max_dm_size(struct);
    }

    /** {@return support of atomic operations over PCI} */
    public PciAtomics pciAtomics() {
        MemorySegment caps = ibv_device_attr_ex.pci_atomic_caps(struct);
        return new PciAtomics(PciAtomicSize.of(Short.toUnsignedInt(ibv_pci_atomic_caps.fetch_add(caps))),
                PciAtomicSize.of(Short.toUnsignedInt(ibv_pci_atomic_caps.swap(caps))),
                PciAtomicSize.of(Short.toUnsignedInt(ibv_pci_atomic_caps.compare_swap(caps))));
    }

    /** {@return the XRC operations that support on-demand paging} */
    public FlagSet<OdpCapability> xrcOnDemandPaging() {
        return OdpCapability.of(ibv_device_attr_ex.xrc_odp_caps(struct));
    }

    /** {@return the number of physical ports, which may exceed 255} */
    public int physicalPorts() {
        return ibv_device_attr_ex.phys_port_cnt_ex(struct);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DeviceAttributesEx that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return basic().hashCode();
    }

    @Override
    public String toString() {
        return "DeviceAttributesEx[basic=" + basic() + ", onDemandPaging=" + onDemandPaging()
                + ", completionTimestampMask=" + completionTimestampMask() + ", coreClock=" + coreClock()
                + ", capabilities=" + capabilities() + ", tso=" + tso() + ", rss=" + rss()
                + ", maxReceiveWorkQueues=" + maxReceiveWorkQueues() + ", packetPacing=" + packetPacing()
                + ", rawPacket=" + rawPacket() + ", tagMatching=" + tagMatching() + ", moderation=" + moderation()
                + ", maxDeviceMemory=" + maxDeviceMemory() + ", pciAtomics=" + pciAtomics()
                + ", xrcOnDemandPaging=" + xrcOnDemandPaging() + ", physicalPorts=" + physicalPorts() + "]";
    }

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
