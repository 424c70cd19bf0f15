// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

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
record DeviceReport(PrintWriter out, Device device, DeviceAttributesEx attributes) {
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
        out.println("hca_id:\t" + device.name());
        out.println("\ttransport:\t\t\t" + TRANSPORTS.getOrDefault(device.transportType(), "invalid transport") + " ("
                + device.transportType().value() + ")");
        if (!basic.firmwareVersion().isEmpty()) {
            out.println("\tfw_ver:\t\t\t\t" + basic.firmwareVersion());
        }
        out.println("\tnode_guid:\t\t\t" + basic.nodeGuid());
        out.println("\tsys_image_guid:\t\t\t" + basic.systemImageGuid());
        out.println(String.format("\tvendor_id:\t\t\t0x%04x", basic.vendorId()));
        out.println("\tvendor_part_id:\t\t\t" + basic.vendorPartId());
        out.println(String.format("\thw_ver:\t\t\t\t0x%X", basic.hardwareVersion()));
        String board = boardId();
        if (!board.isEmpty()) {
            out.println("\tboard_id:\t\t\t" + board);
        }
        out.println("\tphys_port_cnt:\t\t\t" + basic.physicalPorts());
    }

    /** Prints the limits of the device. */
    void printLimits() {
        DeviceAttributes basic = attributes.basic();
        out.println("\tmax_mr_size:\t\t\t0x" + Long.toHexString(basic.maxRegionSize()));
        out.println("\tpage_size_cap:\t\t\t0x" + Long.toHexString(basic.pageSizes()));
        out.println("\tmax_qp:\t\t\t\t" + basic.maxQueuePairs());
        out.println("\tmax_qp_wr:\t\t\t" + basic.maxQueuePairRequests());
        out.println(String.format("\tdevice_cap_flags:\t\t0x%08x", basic.capabilities().bits()));
        printCapabilities(basic.capabilities(), LOW_HALF);
        out.println("\tmax_sge:\t\t\t" + basic.maxScatterGather());
        out.println("\tmax_sge_rd:\t\t\t" + basic.maxReadScatterGather());
        out.println("\tmax_cq:\t\t\t\t" + basic.maxCompletionQueues());
        out.println("\tmax_cqe:\t\t\t" + basic.maxCompletionQueueEntries());
        out.println("\tmax_mr:\t\t\t\t" + basic.maxRegions());
        out.println("\tmax_pd:\t\t\t\t" + basic.maxProtectionDomains());
        out.println("\tmax_qp_rd_atom:\t\t\t" + basic.maxQueuePairReadAtomic());
        out.println("\tmax_ee_rd_atom:\t\t\t" + basic.maxEeReadAtomic());
        out.println("\tmax_res_rd_atom:\t\t" + basic.maxResourceReadAtomic());
        out.println("\tmax_qp_init_rd_atom:\t\t" + basic.maxQueuePairInitiatorReadAtomic());
        out.println("\tmax_ee_init_rd_atom:\t\t" + basic.maxEeInitiatorReadAtomic());
        out.println("\tatomic_cap:\t\t\tATOMIC_" + basic.atomicCapability() + " (" + basic.atomicCapability().value()
                + ")");
        out.println("\tmax_ee:\t\t\t\t" + basic.maxEe());
        out.println("\tmax_rdd:\t\t\t" + basic.maxRdd());
        out.println("\tmax_mw:\t\t\t\t" + basic.maxMemoryWindows());
        out.println("\tmax_raw_ipv6_qp:\t\t" + basic.maxRawIpv6QueuePairs());
        out.println("\tmax_raw_ethy_qp:\t\t" + basic.maxRawEthernetQueuePairs());
        out.println("\tmax_mcast_grp:\t\t\t" + basic.maxMulticastGroups());
        out.println("\tmax_mcast_qp_attach:\t\t" + basic.maxMulticastQueuePairs());
        out.println("\tmax_total_mcast_qp_attach:\t" + basic.maxMulticastAttachments());
        out.println("\tmax_ah:\t\t\t\t" + basic.maxAddressHandles());
        out.println("\tmax_fmr:\t\t\t" + basic.maxFastRegions());
        if (basic.maxFastRegions() != 0) {
            out.println("\tmax_map_per_fmr:\t\t" + basic.maxMapsPerFastRegion());
        }
        out.println("\tmax_srq:\t\t\t" + basic.maxSharedReceiveQueues());
        if (basic.maxSharedReceiveQueues() != 0) {
            out.println("\tmax_srq_wr:\t\t\t" + basic.maxSharedReceiveRequests());
            out.println("\tmax_srq_sge:\t\t\t" + basic.maxSharedReceiveScatterGather());
        }
        out.println("\tmax_pkeys:\t\t\t" + basic.maxPartitions());
        out.println("\tlocal_ca_ack_delay:\t\t" + basic.localAckDelay().code());
    }

    /** Prints the capabilities of the device. */
    void printCapabilities() {
        printPaging();
        out.println(attributes.completionTimestampMask() == 0 ? "\tcompletion_timestamp_mask not supported"
                : String.format("\tcompletion timestamp_mask:\t\t\t0x%016x", attributes.completionTimestampMask()));
        out.println(attributes.coreClock() == 0 ? "\tcore clock not supported"
                : "\thca_core_clock:\t\t\t" + Long.toUnsignedString(attributes.coreClock()) + "kHZ");
        if (attributes.rawPacket().bits() != 0) {
            out.println("\traw packet caps:");
            attributes.rawPacket().forEach(capability -> out.println(FLAG + RAW_PACKET.get(capability)));
        }
        out.println(String.format("\tdevice_cap_flags_ex:\t\t0x%X", attributes.capabilities().bits()));
        printCapabilities(attributes.capabilities(), ~LOW_HALF);
        printOffloads();
        printTagMatching();
        if (attributes.moderation().maxCount() != 0 && attributes.moderation().maxPeriod() != 0) {
            out.println();
            out.println("\tcq moderation caps:");
            out.println("\t\tmax_cq_count:\t" + attributes.moderation().maxCount());
            out.println("\t\tmax_cq_period:\t" + attributes.moderation().maxPeriod() + " us");
            out.println();
        }
        if (attributes.maxDeviceMemory() != 0) {
            out.println("\tmaximum available device memory:\t" + Long.toUnsignedString(attributes.maxDeviceMemory())
                    + "Bytes");
            out.println();
        }
    }

    private void printPaging() {
        DeviceAttributesEx.OnDemandPaging paging = attributes.onDemandPaging();
        out.println("\tgeneral_odp_caps:");
        if (paging.supported()) {
            out.println(FLAG + "ODP_SUPPORT");
        }
        if (paging.implicit()) {
            out.println(FLAG + "ODP_SUPPORT_IMPLICIT");
        }
        printUnknown(paging.general() & ~PAGING);
        printPaging("rc", paging.rc());
        printPaging("uc", paging.uc());
        printPaging("ud", paging.ud());
        printPaging("xrc", attributes.xrcOnDemandPaging());
    }

    private void printPaging(String transport, FlagSet<OdpCapability> capabilities) {
        out.println("\t" + transport + "_odp_caps:");
        if (capabilities.bits() == 0) {
            out.println(FLAG + "NO SUPPORT");
        }
        capabilities.forEach(capability -> out.println(FLAG + "SUPPORT_"
                + (capability == OdpCapability.SRQ_RECV ? "SRQ" : capability)));
        printUnknown(capabilities.unknownBits());
    }

    private void printOffloads() {
        out.println("\ttso_caps:");
        out.println("\t\tmax_tso:\t\t\t" + attributes.tso().maxBytes());
        if (attributes.tso().maxBytes() != 0) {
            printTypes(attributes.tso().queuePairTypes());
        }
        DeviceAttributesEx.Rss rss = attributes.rss();
        out.println("\trss_caps:");
        out.println("\t\tmax_rwq_indirection_tables:\t\t\t" + rss.maxIndirectionTables());
        out.println("\t\tmax_rwq_indirection_table_size:\t\t\t" + rss.maxIndirectionTableSize());
        out.println("\t\trx_hash_function:\t\t\t\t0x" + Long.toHexString(rss.hashFunctions().bits()));
        out.println(String.format("\t\trx_hash_fields_mask:\t\t\t\t0x%X", rss.hashFields().bits()));
        if (rss.queuePairTypes().bits() != 0) {
            printTypes(rss.queuePairTypes());
        }
        out.println("\tmax_wq_type_rq:\t\t\t" + attributes.maxReceiveWorkQueues());
        DeviceAttributesEx.PacketPacing pacing = attributes.packetPacing();
        out.println("\tpacket_pacing_caps:");
        out.println("\t\tqp_rate_limit_min:\t" + pacing.minRate() + "kbps");
        out.println("\t\tqp_rate_limit_max:\t" + pacing.maxRate() + "kbps");
        if (pacing.maxRate() != 0) {
            printTypes(pacing.queuePairTypes());
        }
    }

    private void printTypes(FlagSet<QueuePairType> types) {
        out.println("\t\tsupported_qp:");
        long unknown = types.bits();
        for (QueuePairType type : new QueuePairType[] {QueuePairType.RAW_PACKET, QueuePairType.UD}) {
            if (types.contains(type)) {
                out.println(FLAG + "SUPPORT_" + type);
            }
            unknown &= ~(1L << type.value());
        }
        printUnknown(unknown);
    }

    private void printTagMatching() {
        DeviceAttributesEx.TagMatching tags = attributes.tagMatching();
        if (tags.maxTags() == 0) {
            out.println("\ttag matching not supported");
            return;
        }
        out.println("\tmax_rndv_hdr_size:\t\t" + tags.maxRendezvousHeader());
        out.println("\tmax_num_tags:\t\t\t" + tags.maxTags());
        out.println("\tmax_ops:\t\t\t" + tags.maxOperations());
        out.println("\tmax_sge:\t\t\t" + tags.maxScatterGather());
        out.println("\tflags:");
        if (tags.reliableConnection()) {
            out.println(FLAG + "IBV_TM_CAP_RC");
        }
    }

    /** Prints the capabilities within a mask: the lower half holds the basic ones, the upper half the extended ones. */
    private void printCapabilities(FlagSet<DeviceCapability> capabilities, long mask) {
        capabilities.stream().filter(capability -> (capability.bit() & mask) != 0)
                .forEach(capability -> out.println(FLAG + capability));
        printUnknown(capabilities.unknownBits() & mask);
    }

    private void printUnknown(long bits) {
        if (bits != 0) {
            out.println(FLAG + String.format("Unknown flags: 0x%X", bits));
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
