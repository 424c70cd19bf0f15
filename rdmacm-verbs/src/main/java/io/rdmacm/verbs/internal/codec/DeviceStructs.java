// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_moderation_caps;
import io.rdmacm.bindings.ibv_device_attr;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_gid_entry;
import io.rdmacm.bindings.ibv_odp_caps;
import io.rdmacm.bindings.ibv_packet_pacing_caps;
import io.rdmacm.bindings.ibv_pci_atomic_caps;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.bindings.ibv_rss_caps;
import io.rdmacm.bindings.ibv_tm_caps;
import io.rdmacm.bindings.ibv_tso_caps;
import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.DeviceAttributesEx.Moderation;
import io.rdmacm.verbs.device.DeviceAttributesEx.OnDemandPaging;
import io.rdmacm.verbs.device.DeviceAttributesEx.PacketPacing;
import io.rdmacm.verbs.device.DeviceAttributesEx.PciAtomics;
import io.rdmacm.verbs.device.DeviceAttributesEx.Rss;
import io.rdmacm.verbs.device.DeviceAttributesEx.TagMatching;
import io.rdmacm.verbs.device.DeviceAttributesEx.Tso;
import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.device.ExtendedPortCapability;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.LinkSpeed;
import io.rdmacm.verbs.device.LinkWidth;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.device.PciAtomicSize;
import io.rdmacm.verbs.device.PhysicalState;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.PortCapability;
import io.rdmacm.verbs.device.PortState;
import io.rdmacm.verbs.device.RawPacketCapability;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.device.VirtualLanes;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.FlagSet;

/** Reads the attributes of devices and ports, and GID table entries, from C structs. */
public final class DeviceStructs {
    // enum ibv_mtu numbers the powers of two from 256 on, starting at 1.
    private static final int MTU_BASE = 128;

    private DeviceStructs() {
    }

    /** Reads a {@code struct ibv_device_attr}. */
    public static DeviceAttributes readDevice(long address) {
        return DeviceAttributes.of(Memory.view(address, ibv_device_attr.sizeof()));
    }

    /** Reads a {@code struct ibv_device_attr_ex}. */
    public static DeviceAttributesEx readDeviceEx(long address) {
        return new DeviceAttributesEx(readDevice(address + ibv_device_attr_ex.orig_attr$offset()),
                readOnDemandPaging(address + ibv_device_attr_ex.odp_caps$offset()),
                Memory.getLong(address + ibv_device_attr_ex.completion_timestamp_mask$offset()),
                Memory.getLong(address + ibv_device_attr_ex.hca_core_clock$offset()),
                DeviceCapability.of(Memory.getLong(address + ibv_device_attr_ex.device_cap_flags_ex$offset())),
                readTso(address + ibv_device_attr_ex.tso_caps$offset()),
                readRss(address + ibv_device_attr_ex.rss_caps$offset()),
                Memory.getInt(address + ibv_device_attr_ex.max_wq_type_rq$offset()),
                readPacketPacing(address + ibv_device_attr_ex.packet_pacing_caps$offset()),
                RawPacketCapability.of(Memory.getInt(address + ibv_device_attr_ex.raw_packet_caps$offset())),
                readTagMatching(address + ibv_device_attr_ex.tm_caps$offset()),
                readModeration(address + ibv_device_attr_ex.cq_mod_caps$offset()),
                Memory.getLong(address + ibv_device_attr_ex.max_dm_size$offset()),
                readPciAtomics(address + ibv_device_attr_ex.pci_atomic_caps$offset()),
                odp(address + ibv_device_attr_ex.xrc_odp_caps$offset()),
                Memory.getInt(address + ibv_device_attr_ex.phys_port_cnt_ex$offset()));
    }

    private static OnDemandPaging readOnDemandPaging(long address) {
        long transports = address + ibv_odp_caps.per_transport_caps$offset();
        return new OnDemandPaging(Memory.getLong(address + ibv_odp_caps.general_caps$offset()),
                odp(transports + ibv_odp_caps.per_transport_caps.rc_odp_caps$offset()),
                odp(transports + ibv_odp_caps.per_transport_caps.uc_odp_caps$offset()),
                odp(transports + ibv_odp_caps.per_transport_caps.ud_odp_caps$offset()));
    }

    private static Tso readTso(long address) {
        return new Tso(unsigned(address + ibv_tso_caps.max_tso$offset()),
                typesOf(Memory.getInt(address + ibv_tso_caps.supported_qpts$offset())));
    }

    private static Rss readRss(long address) {
        return new Rss(typesOf(Memory.getInt(address + ibv_rss_caps.supported_qpts$offset())),
                Memory.getInt(address + ibv_rss_caps.max_rwq_indirection_tables$offset()),
                Memory.getInt(address + ibv_rss_caps.max_rwq_indirection_table_size$offset()),
                RxHashField.of(Memory.getLong(address + ibv_rss_caps.rx_hash_fields_mask$offset())),
                RxHashFunction.of(
                        Byte.toUnsignedInt(Memory.getByte(address + ibv_rss_caps.rx_hash_function$offset()))));
    }

    private static PacketPacing readPacketPacing(long address) {
        return new PacketPacing(unsigned(address + ibv_packet_pacing_caps.qp_rate_limit_min$offset()),
                unsigned(address + ibv_packet_pacing_caps.qp_rate_limit_max$offset()),
                typesOf(Memory.getInt(address + ibv_packet_pacing_caps.supported_qpts$offset())));
    }

    private static TagMatching readTagMatching(long address) {
        return new TagMatching(Memory.getInt(address + ibv_tm_caps.max_rndv_hdr_size$offset()),
                Memory.getInt(address + ibv_tm_caps.max_num_tags$offset()),
                (Memory.getInt(address + ibv_tm_caps.flags$offset()) & Rdma.IBV_TM_CAP_RC()) != 0,
                Memory.getInt(address + ibv_tm_caps.max_ops$offset()),
                Memory.getInt(address + ibv_tm_caps.max_sge$offset()));
    }

    private static Moderation readModeration(long address) {
        return new Moderation(
                Short.toUnsignedInt(Memory.getShort(address + ibv_cq_moderation_caps.max_cq_count$offset())),
                Duration.of(
                        Short.toUnsignedInt(Memory.getShort(address + ibv_cq_moderation_caps.max_cq_period$offset())),
                        ChronoUnit.MICROS));
    }

    private static PciAtomics readPciAtomics(long address) {
        return new PciAtomics(sizes(address + ibv_pci_atomic_caps.fetch_add$offset()),
                sizes(address + ibv_pci_atomic_caps.swap$offset()),
                sizes(address + ibv_pci_atomic_caps.compare_swap$offset()));
    }

    /** Returns the queue pair types in a mask that has a bit for each type, as tested by ibv_is_qpt_supported. */
    public static FlagSet<QueuePairType> typesOf(int mask) {
        return FlagSet.of(QueuePairType.class, Integer.toUnsignedLong(mask),
                type -> Integer.toUnsignedLong(1 << type.value()));
    }

    private static FlagSet<OdpCapability> odp(long address) {
        return OdpCapability.of(Memory.getInt(address));
    }

    private static long unsigned(long address) {
        return Integer.toUnsignedLong(Memory.getInt(address));
    }

    private static FlagSet<PciAtomicSize> sizes(long address) {
        return PciAtomicSize.of(Short.toUnsignedInt(Memory.getShort(address)));
    }

    /** Reads a {@code struct ibv_port_attr}. */
    public static PortAttributes readPort(long address) {
        return new PortAttributes(PortState.of(Memory.getInt(address + ibv_port_attr.state$offset())),
                mtu(address + ibv_port_attr.max_mtu$offset()), mtu(address + ibv_port_attr.active_mtu$offset()),
                Memory.getInt(address + ibv_port_attr.gid_tbl_len$offset()),
                PortCapability.of(Memory.getInt(address + ibv_port_attr.port_cap_flags$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.max_msg_sz$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.bad_pkey_cntr$offset())),
                Integer.toUnsignedLong(Memory.getInt(address + ibv_port_attr.qkey_viol_cntr$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.pkey_tbl_len$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.lid$offset())),
                Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.sm_lid$offset())),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.lmc$offset())),
                new VirtualLanes(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.max_vl_num$offset()))),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.sm_sl$offset())),
                new ExponentialDelay(
                        Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.subnet_timeout$offset()))),
                Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.init_type_reply$offset())),
                new LinkWidth(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.active_width$offset()))),
                new LinkSpeed(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.active_speed$offset()))),
                new PhysicalState(Byte.toUnsignedInt(Memory.getByte(address + ibv_port_attr.phys_state$offset()))),
                LinkLayer.of(Memory.getByte(address + ibv_port_attr.link_layer$offset())),
                (Memory.getByte(address + ibv_port_attr.flags$offset()) & Rdma.IBV_QPF_GRH_REQUIRED()) != 0,
                ExtendedPortCapability.of(
                        Short.toUnsignedInt(Memory.getShort(address + ibv_port_attr.port_cap_flags2$offset()))),
                // an older library leaves it 0
                new LinkSpeed(Memory.getInt(address + ibv_port_attr.active_speed_ex$offset())));
    }

    private static int mtu(long address) {
        int code = Memory.getInt(address);
        return code == 0 ? 0 : MTU_BASE << code;
    }

    /** Reads a {@code struct ibv_gid_entry}. */
    public static GidEntry readGidEntry(long address) {
        return new GidEntry(Gid.of(Memory.bytes(address + ibv_gid_entry.gid$offset(), Gid.BYTES)),
                Memory.getInt(address + ibv_gid_entry.gid_index$offset()),
                Memory.getInt(address + ibv_gid_entry.port_num$offset()),
                GidType.of(Memory.getInt(address + ibv_gid_entry.gid_type$offset())),
                Memory.getInt(address + ibv_gid_entry.ndev_ifindex$offset()));
    }
}
