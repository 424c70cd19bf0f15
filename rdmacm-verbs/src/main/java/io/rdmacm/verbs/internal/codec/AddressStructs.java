// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_global_route;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.address.Rate;
import io.rdmacm.verbs.internal.ffi.Memory;

/** Converts GIDs and address attributes to and from C structs. */
public final class AddressStructs {
    private static final long GRH = ibv_ah_attr.grh$offset();
    private static final int BYTE = 0xff;
    private static final int FLOW_LABEL = Rdma.IB_GRH_FLOWLABEL_MASK();

    private AddressStructs() {
    }

    /** Reads a {@code union ibv_gid}. */
    public static Gid readGid(long address) {
        return Gid.of(Memory.bytes(address, Gid.BYTES));
    }

    /** Writes a {@code union ibv_gid}. */
    public static void writeGid(Gid gid, long address) {
        MemorySegment.copy(gid.toBytes(), 0, Memory.view(address, Gid.BYTES), ValueLayout.JAVA_BYTE, 0, Gid.BYTES);
    }

    /** Reads a {@code struct ibv_ah_attr}. */
    public static AddressAttributes read(long address) {
        boolean global = Memory.getByte(address + ibv_ah_attr.is_global$offset()) != 0;
        return new AddressAttributes(global ? Optional.of(readRoute(address + GRH)) : Optional.empty(),
                Short.toUnsignedInt(Memory.getShort(address + ibv_ah_attr.dlid$offset())),
                unsignedByte(address + ibv_ah_attr.sl$offset()),
                unsignedByte(address + ibv_ah_attr.src_path_bits$offset()),
                Rate.of(unsignedByte(address + ibv_ah_attr.static_rate$offset())),
                unsignedByte(address + ibv_ah_attr.port_num$offset()));
    }

    /** Writes a {@code struct ibv_ah_attr}, whose memory must be zeroed. */
    public static void write(AddressAttributes attributes, long address) {
        Memory.putShort(address + ibv_ah_attr.dlid$offset(), (short) attributes.destinationLid());
        Memory.putByte(address + ibv_ah_attr.sl$offset(), (byte) attributes.serviceLevel());
        Memory.putByte(address + ibv_ah_attr.src_path_bits$offset(), (byte) attributes.sourcePathBits());
        Memory.putByte(address + ibv_ah_attr.static_rate$offset(), (byte) attributes.staticRate().value());
        Memory.putByte(address + ibv_ah_attr.port_num$offset(), (byte) attributes.port());
        attributes.globalRoute().ifPresent(route -> {
            Memory.putByte(address + ibv_ah_attr.is_global$offset(), (byte) 1);
            writeRoute(route, address + GRH);
        });
    }

    private static GlobalRoute readRoute(long address) {
        return new GlobalRoute(readGid(address + ibv_global_route.dgid$offset()),
                Memory.getInt(address + ibv_global_route.flow_label$offset()) & FLOW_LABEL,
                unsignedByte(address + ibv_global_route.sgid_index$offset()),
                unsignedByte(address + ibv_global_route.hop_limit$offset()),
                unsignedByte(address + ibv_global_route.traffic_class$offset()));
    }

    private static void writeRoute(GlobalRoute route, long address) {
        writeGid(route.destination(), address + ibv_global_route.dgid$offset());
        Memory.putInt(address + ibv_global_route.flow_label$offset(), route.flowLabel());
        Memory.putByte(address + ibv_global_route.sgid_index$offset(), (byte) route.sourceGidIndex());
        Memory.putByte(address + ibv_global_route.hop_limit$offset(), (byte) route.hopLimit());
        Memory.putByte(address + ibv_global_route.traffic_class$offset(), (byte) route.trafficClass());
    }

    private static int unsignedByte(long address) {
        return Memory.getByte(address) & BYTE;
    }
}
