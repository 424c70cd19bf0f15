// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_flow_attr;
import io.rdmacm.bindings.ibv_flow_esp_filter;
import io.rdmacm.bindings.ibv_flow_eth_filter;
import io.rdmacm.bindings.ibv_flow_gre_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_ext_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_filter;
import io.rdmacm.bindings.ibv_flow_ipv6_filter;
import io.rdmacm.bindings.ibv_flow_mpls_filter;
import io.rdmacm.bindings.ibv_flow_spec_action_drop;
import io.rdmacm.bindings.ibv_flow_spec_action_handle;
import io.rdmacm.bindings.ibv_flow_spec_action_tag;
import io.rdmacm.bindings.ibv_flow_spec_counter_action;
import io.rdmacm.bindings.ibv_flow_spec_esp;
import io.rdmacm.bindings.ibv_flow_spec_eth;
import io.rdmacm.bindings.ibv_flow_spec_gre;
import io.rdmacm.bindings.ibv_flow_spec_ipv4;
import io.rdmacm.bindings.ibv_flow_spec_ipv4_ext;
import io.rdmacm.bindings.ibv_flow_spec_ipv6;
import io.rdmacm.bindings.ibv_flow_spec_mpls;
import io.rdmacm.bindings.ibv_flow_spec_tcp_udp;
import io.rdmacm.bindings.ibv_flow_spec_tunnel;
import io.rdmacm.bindings.ibv_flow_tcp_udp_filter;
import io.rdmacm.bindings.ibv_flow_tunnel_filter;
import io.rdmacm.verbs.internal.ffi.Flags;

/**
 * Encodes flow rules: a {@code struct ibv_flow_attr}, immediately followed by the structs of the specifications. Their
 * sizes differ, so members of more than four bytes may be unaligned.
 */
final class FlowStructs {
    private FlowStructs() {
    }

    /** The size of the struct of a match, the offsets of value and mask in it, and the size of either. */
    private record Shape(long size, long value, long mask, long filter) {
    }

    /** Returns the size of the filter struct of a header in bytes. */
    static int filterSize(FlowMatch match) {
        return (int) shapeOf(match.type()).filter();
    }

    /** Returns the C constant for the type of a specification, with the flag for the packet inside a tunnel. */
    static int typeOf(FlowSpecification specification) {
        int type = specification.type().value();
        return specification instanceof FlowMatch match && match.isInner() ? type | Rdma.IBV_FLOW_SPEC_INNER() : type;
    }

    /** Returns the rule in one block. */
    static MemorySegment write(FlowAttributes attributes, Arena arena) {
        long size = ibv_flow_attr.sizeof();
        for (FlowSpecification specification : attributes.specifications()) {
            size += sizeOf(specification);
        }
        MemorySegment block = arena.allocate(size, Long.BYTES);
        ibv_flow_attr.type(block, attributes.type().value());
        ibv_flow_attr.size(block, (short) size);
        ibv_flow_attr.priority(block, (short) attributes.priority());
        ibv_flow_attr.num_of_specs(block, (byte) attributes.specifications().size());
        ibv_flow_attr.port(block, (byte) attributes.port());
        ibv_flow_attr.flags(block, Flags.mask(attributes.flags(), FlowFlag::bit));
        long offset = ibv_flow_attr.sizeof();
        for (FlowSpecification specification : attributes.specifications()) {
            long length = sizeOf(specification);
            write(specification, block.asSlice(offset, length));
            offset += length;
        }
        return block;
    }

    private static void write(FlowSpecification specification, MemorySegment struct) {
        // Type and size are at the same offsets in all of these structs.
        struct.set(ValueLayout.JAVA_INT, ibv_flow_spec_action_drop.type$offset(), typeOf(specification));
        struct.set(ValueLayout.JAVA_SHORT, ibv_flow_spec_action_drop.size$offset(), (short) struct.byteSize());
        switch (specification) {
            case FlowMatch match -> {
                Shape shape = shapeOf(match.type());
                int length = (int) shape.filter();
                copy(match.values(length), struct, shape.value());
                copy(match.masks(length), struct, shape.mask());
            }
            case FlowSpecification.Tag tag ->
                    struct.set(ValueLayout.JAVA_INT, ibv_flow_spec_action_tag.tag_id$offset(), tag.id());
            case FlowSpecification.Handle handle -> struct.set(ValueLayout.JAVA_LONG_UNALIGNED,
                    ibv_flow_spec_action_handle.action$offset(), handle.action().handle().address());
            case FlowSpecification.Count count -> struct.set(ValueLayout.JAVA_LONG_UNALIGNED,
                    ibv_flow_spec_counter_action.counters$offset(), count.counters().handle().address());
            case FlowSpecification.Drop _ -> {
                // has no other members
            }
        }
    }

    private static void copy(byte[] filter, MemorySegment struct, long offset) {
        MemorySegment.copy(filter, 0, struct, ValueLayout.JAVA_BYTE, offset, filter.length);
    }

    private static long sizeOf(FlowSpecification specification) {
        return switch (specification) {
            case FlowMatch match -> shapeOf(match.type()).size();
            case FlowSpecification.Tag _ -> ibv_flow_spec_action_tag.sizeof();
            case FlowSpecification.Drop _ -> ibv_flow_spec_action_drop.sizeof();
            case FlowSpecification.Handle _ -> ibv_flow_spec_action_handle.sizeof();
            case FlowSpecification.Count _ -> ibv_flow_spec_counter_action.sizeof();
        };
    }

    private static Shape shapeOf(FlowSpecificationType type) {
        return switch (type) {
            case ETH -> new Shape(ibv_flow_spec_eth.sizeof(), ibv_flow_spec_eth.val$offset(),
                    ibv_flow_spec_eth.mask$offset(), ibv_flow_eth_filter.sizeof());
            case IPV4 -> new Shape(ibv_flow_spec_ipv4.sizeof(), ibv_flow_spec_ipv4.val$offset(),
                    ibv_flow_spec_ipv4.mask$offset(), ibv_flow_ipv4_filter.sizeof());
            case IPV4_EXT -> new Shape(ibv_flow_spec_ipv4_ext.sizeof(), ibv_flow_spec_ipv4_ext.val$offset(),
                    ibv_flow_spec_ipv4_ext.mask$offset(), ibv_flow_ipv4_ext_filter.sizeof());
            case IPV6 -> new Shape(ibv_flow_spec_ipv6.sizeof(), ibv_flow_spec_ipv6.val$offset(),
                    ibv_flow_spec_ipv6.mask$offset(), ibv_flow_ipv6_filter.sizeof());
            case ESP -> new Shape(ibv_flow_spec_esp.sizeof(), ibv_flow_spec_esp.val$offset(),
                    ibv_flow_spec_esp.mask$offset(), ibv_flow_esp_filter.sizeof());
            case TCP, UDP -> new Shape(ibv_flow_spec_tcp_udp.sizeof(), ibv_flow_spec_tcp_udp.val$offset(),
                    ibv_flow_spec_tcp_udp.mask$offset(), ibv_flow_tcp_udp_filter.sizeof());
            case VXLAN_TUNNEL -> new Shape(ibv_flow_spec_tunnel.sizeof(), ibv_flow_spec_tunnel.val$offset(),
                    ibv_flow_spec_tunnel.mask$offset(), ibv_flow_tunnel_filter.sizeof());
            case GRE -> new Shape(ibv_flow_spec_gre.sizeof(), ibv_flow_spec_gre.val$offset(),
                    ibv_flow_spec_gre.mask$offset(), ibv_flow_gre_filter.sizeof());
            case MPLS -> new Shape(ibv_flow_spec_mpls.sizeof(), ibv_flow_spec_mpls.val$offset(),
                    ibv_flow_spec_mpls.mask$offset(), ibv_flow_mpls_filter.sizeof());
            case ACTION_TAG, ACTION_DROP, ACTION_HANDLE, ACTION_COUNT ->
                    throw new IllegalArgumentException(type + " matches no header");
        };
    }
}
