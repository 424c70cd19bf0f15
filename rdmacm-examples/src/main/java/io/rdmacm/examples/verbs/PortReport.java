// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;

import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.LinkSpeed;
import io.rdmacm.verbs.device.LinkWidth;
import io.rdmacm.verbs.device.PhysicalState;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.PortState;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.device.VirtualLanes;
import io.rdmacm.verbs.error.RdmaException;

/** The lines that ibv_devinfo prints for a port, in the words and the order of the C program. */
record PortReport(Consumer<String> out, VerbsContext context, int port) {
    // enum ibv_mtu counts the powers of two: 256 is 1
    private static final int MTU_BASE = 7;
    private static final Map<LinkLayer, String> LINK_LAYERS = Map.of(LinkLayer.UNSPECIFIED, "Unspecified",
            LinkLayer.INFINIBAND, "InfiniBand", LinkLayer.ETHERNET, "Ethernet");
    private static final Map<PhysicalState, String> PHYSICAL_STATES = Map.of(PhysicalState.SLEEP, "SLEEP",
            PhysicalState.POLLING, "POLLING", PhysicalState.DISABLED, "DISABLED",
            PhysicalState.TRAINING, "PORT_CONFIGURATION TRAINNING", PhysicalState.LINK_UP, "LINK_UP",
            PhysicalState.LINK_ERROR_RECOVERY, "LINK_ERROR_RECOVERY", PhysicalState.PHY_TEST, "PHY TEST");

    /** Prints the state of the port; if verbose, all its attributes and GIDs. */
    void print(boolean verbose, TransportType transport) throws IOException {
        PortAttributes attributes = context.queryPort(port);
        out.accept("\t\tport:\t" + port);
        out.accept("\t\t\tstate:\t\t\t" + state(attributes.state()) + " (" + attributes.state().value() + ")");
        out.accept("\t\t\tmax_mtu:\t\t" + mtu(attributes.maxMtu()));
        out.accept("\t\t\tactive_mtu:\t\t" + mtu(attributes.activeMtu()));
        out.accept("\t\t\tsm_lid:\t\t\t" + attributes.subnetManagerLid());
        out.accept("\t\t\tport_lid:\t\t" + attributes.lid());
        out.accept(String.format("\t\t\tport_lmc:\t\t0x%02x", attributes.lidMaskControl()));
        out.accept("\t\t\tlink_layer:\t\t" + LINK_LAYERS.get(attributes.linkLayer()));
        if (verbose) {
            printDetails(attributes, transport);
            printGids(attributes);
        }
        out.accept("");
    }

    private void printDetails(PortAttributes attributes, TransportType transport) {
        out.accept("\t\t\tmax_msg_sz:\t\t0x" + Long.toHexString(attributes.maxMessageSize()));
        out.accept(String.format("\t\t\tport_cap_flags:\t\t0x%08x", attributes.capabilities().bits()));
        out.accept(String.format("\t\t\tport_cap_flags2:\t0x%04x", attributes.extendedCapabilities().bits()));
        out.accept("\t\t\tmax_vl_num:\t\t" + lanes(attributes.maxVirtualLanes()));
        out.accept("\t\t\tbad_pkey_cntr:\t\t0x" + Long.toHexString(attributes.badPartitionKeys()));
        out.accept("\t\t\tqkey_viol_cntr:\t\t0x" + Long.toHexString(attributes.queueKeyViolations()));
        out.accept("\t\t\tsm_sl:\t\t\t" + attributes.subnetManagerServiceLevel());
        out.accept("\t\t\tpkey_tbl_len:\t\t" + attributes.partitionKeyTableLength());
        out.accept("\t\t\tgid_tbl_len:\t\t" + attributes.gidTableLength());
        out.accept("\t\t\tsubnet_timeout:\t\t" + attributes.subnetTimeout().code());
        out.accept("\t\t\tinit_type_reply:\t" + attributes.initTypeReply());
        out.accept("\t\t\tactive_width:\t\t" + width(attributes.activeWidth()));
        out.accept("\t\t\tactive_speed:\t\t" + speed(attributes.speed()));
        if (transport == TransportType.IB) {
            PhysicalState state = attributes.physicalState();
            out.accept("\t\t\tphys_state:\t\t" + PHYSICAL_STATES.getOrDefault(state, "invalid physical state")
                    + " (" + state.code() + ")");
        }
    }

    private void printGids(PortAttributes attributes) throws IOException {
        for (int i = 0; i < attributes.gidTableLength(); i++) {
            Gid gid = context.queryGid(port, i);
            if (gid.interfaceId() != 0) {
                printGid(gid, i, attributes.linkLayer());
            }
        }
    }

    private void printGid(Gid gid, int index, LinkLayer layer) {
        GidEntry entry;
        try {
            entry = context.queryGidEx(port, index);
        } catch (RdmaException e) {
            // the entry has been removed meanwhile
            return;
        }
        boolean address = entry.type() == GidType.ROCE_V2;
        String type = layer == LinkLayer.ETHERNET ? address ? ", RoCE v2" : ", RoCE v1" : "";
        out.accept(String.format("\t\t\tGID[%3d]:\t\t%s%s", index, address ? gid : groups(gid), type));
    }

    /** Returns eight groups of four hexadecimal digits, without abbreviation. */
    private static String groups(Gid gid) {
        return HexFormat.of().formatHex(gid.toBytes()).replaceAll("(?<=.)(?=(.{4})+$)", ":");
    }

    private static String state(PortState state) {
        return switch (state) {
            case DOWN, INIT, ARMED, ACTIVE -> "PORT_" + state;
            default -> "invalid state";
        };
    }

    private static String mtu(int bytes) {
        return bytes == 0 ? "invalid MTU (0)" : bytes + " (" + (Integer.numberOfTrailingZeros(bytes) - MTU_BASE) + ")";
    }

    private static String lanes(VirtualLanes lanes) {
        return number(lanes.count(), "invalid value") + " (" + lanes.code() + ")";
    }

    private static String width(LinkWidth width) {
        return number(width.lanes(), "invalid width") + "X (" + width.code() + ")";
    }

    private static String number(OptionalInt number, String unknown) {
        return number.isPresent() ? Integer.toString(number.getAsInt()) : unknown;
    }

    private static String speed(LinkSpeed speed) {
        OptionalInt megabits = speed.megabitsPerLane();
        return (megabits.isPresent() ? megabits.getAsInt() / 1000.0 + " Gbps" : "invalid speed") + " (" + speed.code()
                + ")";
    }
}
