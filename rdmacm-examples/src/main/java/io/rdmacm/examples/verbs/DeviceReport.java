// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.device.RawPacketCapability;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.FlagSet;

/** The lines that ibv_devinfo prints for a device, in the words and the order of the C program. */
record DeviceReport(Consumer<String> out, Device device, DeviceAttributesEx attributes) {
    private static final String FLAG = "\t\t\t\t\t";
    private static final long LOW_HALF = 0xffff_ffffL;
    // IBV_ODP_SUPPORT and IBV_ODP_SUPPORT_IMPLICIT
    private static final long PAGING = 0b11;
    private static final Map<TransportType, String> TRANSPORTS = Map.of(TransportType.IB, "InfiniBand",
            TransportType.IWARP, "iWARP", TransportType.USNIC, "usNIC", TransportType.USNIC_UDP, "usNIC UDP",
            TransportType.UNSPECIFIED, "unspecified");
    private static final Map<RawPacketCapability, String> RAW_PACKET = Map.of(
            RawPacketCapability.CVLAN_STRIPPING, "C-VLAN stripping offload",
            RawPacketCapability.SCATTER_FCS, "Scatter FCS offload", RawPacketCapability.IP_CSUM, "IP csum offload",
            RawPacketCapability.DELAY_DROP, "Delay drop");

    /** Prints what the device is. */
    void print() throws IOException {
        DeviceAttributes basic = attributes.basic();
        out.accept("hca_id:\t" + device.name());
        out.accept("\ttransport:\t\t\t" + TRANSPORTS.getOrDefault(device.transportType(), "invalid transport") + " ("
                + device.transportType().value() + ")");
        if (!basic.firmwareVersion().isEmpty()) {
            out.accept("\tfw_ver:\t\t\t\t" + basic.firmwareVersion());
        }
        out.accept("\tnode_guid:\t\t\t" + basic.nodeGuid());
        out.accept("\tsys_image_guid:\t\t\t" + basic.systemImageGuid());
        out.accept(String.format("\tvendor_id:\t\t\t0x%04x", basic.vendorId()));
        out.accept("\tvendor_part_id:\t\t\t" + basic.vendorPartId());
        out.accept(String.format("\thw_ver:\t\t\t\t0x%X", basic.hardwareVersion()));
        String board = boardId();
        if (!board.isEmpty()) {
            out.accept("\tboard_id:\t\t\t" + board);
        }
        out.accept("\tphys_port_cnt:\t\t\t" + basic.physicalPorts());
    }

    /** Prints the limits of the device. */
    void printLimits() {
        DeviceAttributes basic = attributes.basic();
        out.accept("\tmax_mr_size:\t\t\t0x" + Long.toHexString(basic.maxRegionSize()));
        out.accept("\tpage_size_cap:\t\t\t0x" + Long.toHexString(basic.pageSizes()));
        out.accept("\tmax_qp:\t\t\t\t" + basic.maxQueuePairs());
        out.accept("\tmax_qp_wr:\t\t\t" + basic.maxQueuePairRequests());
        out.accept(String.format("\tdevice_cap_flags:\t\t0x%08x", basic.capabilities().bits()));
        printCapabilities(basic.capabilities(), LOW_HALF);
        out.accept("\tmax_sge:\t\t\t" + basic.maxScatterGather());
        out.accept("\tmax_sge_rd:\t\t\t" + basic.maxReadScatterGather());
        out.accept("\tmax_cq:\t\t\t\t" + basic.maxCompletionQueues());
        out.accept("\tmax_cqe:\t\t\t" + basic.maxCompletionQueueEntries());
        out.accept("\tmax_mr:\t\t\t\t" + basic.maxRegions());
        out.accept("\tmax_pd:\t\t\t\t" + basic.maxProtectionDomains());
        out.accept("\tmax_qp_rd_atom:\t\t\t" + basic.maxQueuePairReadAtomic());
        out.accept("\tmax_ee_rd_atom:\t\t\t" + basic.maxEeReadAtomic());
        out.accept("\tmax_res_rd_atom:\t\t" + basic.maxResourceReadAtomic());
        out.accept("\tmax_qp_init_rd_atom:\t\t" + basic.maxQueuePairInitiatorReadAtomic());
        out.accept("\tmax_ee_init_rd_atom:\t\t" + basic.maxEeInitiatorReadAtomic());
        out.accept("\tatomic_cap:\t\t\tATOMIC_" + basic.atomicCapability() + " (" + basic.atomicCapability().value()
                + ")");
        out.accept("\tmax_ee:\t\t\t\t" + basic.maxEe());
        out.accept("\tmax_rdd:\t\t\t" + basic.maxRdd());
        out.accept("\tmax_mw:\t\t\t\t" + basic.maxMemoryWindows());
        out.accept("\tmax_raw_ipv6_qp:\t\t" + basic.maxRawIpv6QueuePairs());
        out.accept("\tmax_raw_ethy_qp:\t\t" + basic.maxRawEthernetQueuePairs());
        out.accept("\tmax_mcast_grp:\t\t\t" + basic.maxMulticastGroups());
        out.accept("\tmax_mcast_qp_attach:\t\t" + basic.maxMulticastQueuePairs());
        out.accept("\tmax_total_mcast_qp_attach:\t" + basic.maxMulticastAttachments());
        out.accept("\tmax_ah:\t\t\t\t" + basic.maxAddressHandles());
        out.accept("\tmax_fmr:\t\t\t" + basic.maxFastRegions());
        if (basic.maxFastRegions() != 0) {
            out.accept("\tmax_map_per_fmr:\t\t" + basic.maxMapsPerFastRegion());
        }
        out.accept("\tmax_srq:\t\t\t" + basic.maxSharedReceiveQueues());
        if (basic.maxSharedReceiveQueues() != 0) {
            out.accept("\tmax_srq_wr:\t\t\t" + basic.maxSharedReceiveRequests());
            out.accept("\tmax_srq_sge:\t\t\t" + basic.maxSharedReceiveScatterGather());
        }
        out.accept("\tmax_pkeys:\t\t\t" + basic.maxPartitions());
        out.accept("\tlocal_ca_ack_delay:\t\t" + basic.localAckDelay().code());
    }

    /** Prints the capabilities of the device. */
    void printCapabilities() {
        printPaging();
        out.accept(attributes.completionTimestampMask() == 0 ? "\tcompletion_timestamp_mask not supported"
                : String.format("\tcompletion timestamp_mask:\t\t\t0x%016x", attributes.completionTimestampMask()));
        out.accept(attributes.coreClock() == 0 ? "\tcore clock not supported"
                : "\thca_core_clock:\t\t\t" + Long.toUnsignedString(attributes.coreClock()) + "kHZ");
        if (attributes.rawPacket().bits() != 0) {
            out.accept("\traw packet caps:");
            attributes.rawPacket().forEach(capability -> out.accept(FLAG + RAW_PACKET.get(capability)));
        }
        out.accept(String.format("\tdevice_cap_flags_ex:\t\t0x%X", attributes.capabilities().bits()));
        printCapabilities(attributes.capabilities(), ~LOW_HALF);
        printOffloads();
        printTagMatching();
        if (attributes.moderation().maxCount() != 0 && attributes.moderation().maxPeriod() != 0) {
            out.accept("");
            out.accept("\tcq moderation caps:");
            out.accept("\t\tmax_cq_count:\t" + attributes.moderation().maxCount());
            out.accept("\t\tmax_cq_period:\t" + attributes.moderation().maxPeriod() + " us");
            out.accept("");
        }
        if (attributes.maxDeviceMemory() != 0) {
            out.accept("\tmaximum available device memory:\t" + Long.toUnsignedString(attributes.maxDeviceMemory())
                    + "Bytes");
            out.accept("");
        }
    }

    private void printPaging() {
        DeviceAttributesEx.OnDemandPaging paging = attributes.onDemandPaging();
        out.accept("\tgeneral_odp_caps:");
        if (paging.supported()) {
            out.accept(FLAG + "ODP_SUPPORT");
        }
        if (paging.implicit()) {
            out.accept(FLAG + "ODP_SUPPORT_IMPLICIT");
        }
        printUnknown(paging.general() & ~PAGING);
        printPaging("rc", paging.rc());
        printPaging("uc", paging.uc());
        printPaging("ud", paging.ud());
        printPaging("xrc", attributes.xrcOnDemandPaging());
    }

    private void printPaging(String transport, FlagSet<OdpCapability> capabilities) {
        out.accept("\t" + transport + "_odp_caps:");
        if (capabilities.bits() == 0) {
            out.accept(FLAG + "NO SUPPORT");
        }
        capabilities.forEach(capability -> out.accept(FLAG + "SUPPORT_"
                + (capability == OdpCapability.SRQ_RECV ? "SRQ" : capability)));
        printUnknown(capabilities.unknownBits());
    }

    private void printOffloads() {
        out.accept("\ttso_caps:");
        out.accept("\t\tmax_tso:\t\t\t" + attributes.tso().maxBytes());
        if (attributes.tso().maxBytes() != 0) {
            printTypes(attributes.tso().queuePairTypes());
        }
        DeviceAttributesEx.Rss rss = attributes.rss();
        out.accept("\trss_caps:");
        out.accept("\t\tmax_rwq_indirection_tables:\t\t\t" + rss.maxIndirectionTables());
        out.accept("\t\tmax_rwq_indirection_table_size:\t\t\t" + rss.maxIndirectionTableSize());
        out.accept("\t\trx_hash_function:\t\t\t\t0x" + Long.toHexString(rss.hashFunctions().bits()));
        out.accept(String.format("\t\trx_hash_fields_mask:\t\t\t\t0x%X", rss.hashFields().bits()));
        if (rss.queuePairTypes().bits() != 0) {
            printTypes(rss.queuePairTypes());
        }
        out.accept("\tmax_wq_type_rq:\t\t\t" + attributes.maxReceiveWorkQueues());
        DeviceAttributesEx.PacketPacing pacing = attributes.packetPacing();
        out.accept("\tpacket_pacing_caps:");
        out.accept("\t\tqp_rate_limit_min:\t" + pacing.minRate() + "kbps");
        out.accept("\t\tqp_rate_limit_max:\t" + pacing.maxRate() + "kbps");
        if (pacing.maxRate() != 0) {
            printTypes(pacing.queuePairTypes());
        }
    }

    private void printTypes(FlagSet<QueuePairType> types) {
        out.accept("\t\tsupported_qp:");
        long unknown = types.bits();
        for (QueuePairType type : new QueuePairType[] {QueuePairType.RAW_PACKET, QueuePairType.UD}) {
            if (types.contains(type)) {
                out.accept(FLAG + "SUPPORT_" + type);
            }
            unknown &= ~(1L << type.value());
        }
        printUnknown(unknown);
    }

    private void printTagMatching() {
        DeviceAttributesEx.TagMatching tags = attributes.tagMatching();
        if (tags.maxTags() == 0) {
            out.accept("\ttag matching not supported");
            return;
        }
        out.accept("\tmax_rndv_hdr_size:\t\t" + tags.maxRendezvousHeader());
        out.accept("\tmax_num_tags:\t\t\t" + tags.maxTags());
        out.accept("\tmax_ops:\t\t\t" + tags.maxOperations());
        out.accept("\tmax_sge:\t\t\t" + tags.maxScatterGather());
        out.accept("\tflags:");
        if (tags.reliableConnection()) {
            out.accept(FLAG + "IBV_TM_CAP_RC");
        }
    }

    /** Prints the capabilities within a mask: the lower half holds the basic ones, the upper half the extended ones. */
    private void printCapabilities(FlagSet<DeviceCapability> capabilities, long mask) {
        capabilities.stream().filter(capability -> (capability.bit() & mask) != 0)
                .forEach(capability -> out.accept(FLAG + capability));
        printUnknown(capabilities.unknownBits() & mask);
    }

    private void printUnknown(long bits) {
        if (bits != 0) {
            out.accept(FLAG + String.format("Unknown flags: 0x%X", bits));
        }
    }

    /** Returns the vendor's name of the board, which some drivers offer in a file; empty otherwise. */
    private String boardId() throws IOException {
        try {
            return Files.readString(Path.of(device.path(), "board_id")).strip();
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
