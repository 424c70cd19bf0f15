// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Set;

import io.rdmacm.bindings.ibv_flow_esp_filter;
import io.rdmacm.bindings.ibv_flow_eth_filter;
import io.rdmacm.bindings.ibv_flow_gre_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_ext_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_filter;
import io.rdmacm.bindings.ibv_flow_ipv6_filter;
import io.rdmacm.bindings.ibv_flow_mpls_filter;
import io.rdmacm.bindings.ibv_flow_tcp_udp_filter;
import io.rdmacm.bindings.ibv_flow_tunnel_filter;

/**
 * A field of a header that a {@link FlowMatch} can restrict: a member of one of the filter structs of
 * ibv_create_flow(3), with its name in C. All are numbers; addresses can be given as such too.
 */
public enum FlowField {
    /** The destination MAC address, 48 bits: the first byte on the wire is the most significant. */
    ETH_DST_MAC("dst_mac", ibv_flow_eth_filter.dst_mac$offset(), 48, FlowSpecificationType.ETH),
    /** The source MAC address, 48 bits. */
    ETH_SRC_MAC("src_mac", ibv_flow_eth_filter.src_mac$offset(), 48, FlowSpecificationType.ETH),
    /** The EtherType that follows the last VLAN tag, 16 bits: 0x800 for IPv4, 0x86dd for IPv6. */
    ETH_ETHER_TYPE("ether_type", ibv_flow_eth_filter.ether_type$offset(), 16, FlowSpecificationType.ETH),
    /** The VLAN tag, 16 bits: 3 of priority, 1 drop eligible bit, 12 of VLAN ID. */
    ETH_VLAN_TAG("vlan_tag", ibv_flow_eth_filter.vlan_tag$offset(), 16, FlowSpecificationType.ETH),
    /** The source address. */
    IPV4_SRC_IP("src_ip", ibv_flow_ipv4_filter.src_ip$offset(), 32, FlowSpecificationType.IPV4),
    /** The destination address. */
    IPV4_DST_IP("dst_ip", ibv_flow_ipv4_filter.dst_ip$offset(), 32, FlowSpecificationType.IPV4),
    /** The source address. */
    IPV4_EXT_SRC_IP("src_ip", ibv_flow_ipv4_ext_filter.src_ip$offset(), 32, FlowSpecificationType.IPV4_EXT),
    /** The destination address. */
    IPV4_EXT_DST_IP("dst_ip", ibv_flow_ipv4_ext_filter.dst_ip$offset(), 32, FlowSpecificationType.IPV4_EXT),
    /** The protocol number, 8 bits: 6 for TCP, 17 for UDP. */
    IPV4_EXT_PROTO("proto", ibv_flow_ipv4_ext_filter.proto$offset(), 8, FlowSpecificationType.IPV4_EXT),
    /** The type of service, 8 bits. */
    IPV4_EXT_TOS("tos", ibv_flow_ipv4_ext_filter.tos$offset(), 8, FlowSpecificationType.IPV4_EXT),
    /** The time to live, 8 bits. */
    IPV4_EXT_TTL("ttl", ibv_flow_ipv4_ext_filter.ttl$offset(), 8, FlowSpecificationType.IPV4_EXT),
    /** The fragmentation flags, 8 bits. */
    IPV4_EXT_FLAGS("flags", ibv_flow_ipv4_ext_filter.flags$offset(), 8, FlowSpecificationType.IPV4_EXT),
    /** The source address. */
    IPV6_SRC_IP("src_ip", ibv_flow_ipv6_filter.src_ip$offset(), 128, FlowSpecificationType.IPV6),
    /** The destination address. */
    IPV6_DST_IP("dst_ip", ibv_flow_ipv6_filter.dst_ip$offset(), 128, FlowSpecificationType.IPV6),
    /** The flow label, 20 bits. */
    IPV6_FLOW_LABEL("flow_label", ibv_flow_ipv6_filter.flow_label$offset(), 20, FlowSpecificationType.IPV6),
    /** The protocol number of the next header, 8 bits: 6 for TCP, 17 for UDP. */
    IPV6_NEXT_HDR("next_hdr", ibv_flow_ipv6_filter.next_hdr$offset(), 8, FlowSpecificationType.IPV6),
    /** The traffic class, 8 bits. */
    IPV6_TRAFFIC_CLASS("traffic_class", ibv_flow_ipv6_filter.traffic_class$offset(), 8, FlowSpecificationType.IPV6),
    /** The hop limit, 8 bits. */
    IPV6_HOP_LIMIT("hop_limit", ibv_flow_ipv6_filter.hop_limit$offset(), 8, FlowSpecificationType.IPV6),
    /** The security parameters index (SPI), an unsigned 32-bit number. */
    ESP_SPI("spi", ibv_flow_esp_filter.spi$offset(), 32, FlowSpecificationType.ESP),
    /** The sequence number, an unsigned 32-bit number. */
    ESP_SEQ("seq", ibv_flow_esp_filter.seq$offset(), 32, FlowSpecificationType.ESP),
    /** The destination port, 16 bits. */
    TCP_UDP_DST_PORT("dst_port", ibv_flow_tcp_udp_filter.dst_port$offset(), 16,
            FlowSpecificationType.TCP, FlowSpecificationType.UDP),
    /** The source port, 16 bits. */
    TCP_UDP_SRC_PORT("src_port", ibv_flow_tcp_udp_filter.src_port$offset(), 16,
            FlowSpecificationType.TCP, FlowSpecificationType.UDP),
    /** The first 16 bits of the header: the flags for the fields that are present, and the version. */
    GRE_C_KS_RES0_VER("c_ks_res0_ver", ibv_flow_gre_filter.c_ks_res0_ver$offset(), 16, FlowSpecificationType.GRE),
    /** The protocol type of the payload, 16 bits: an EtherType. */
    GRE_PROTOCOL("protocol", ibv_flow_gre_filter.protocol$offset(), 16, FlowSpecificationType.GRE),
    /** The key, an unsigned 32-bit number. */
    GRE_KEY("key", ibv_flow_gre_filter.key$offset(), 32, FlowSpecificationType.GRE),
    /**
     * The whole label stack entry, 32 bits: 20 of label, 3 of traffic class, 1 for the bottom of the stack, 8 of time
     * to live.
     */
    MPLS_LABEL("label", ibv_flow_mpls_filter.label$offset(), 32, FlowSpecificationType.MPLS),
    /** The VXLAN network identifier (VNI), 24 bits. */
    TUNNEL_ID("tunnel_id", ibv_flow_tunnel_filter.tunnel_id$offset(), 24, FlowSpecificationType.VXLAN_TUNNEL);

    private final String member;
    private final int offset;
    private final int bytes;
    private final BigInteger most;
    private final Set<FlowSpecificationType> headers;

    FlowField(String member, long offset, int bits, FlowSpecificationType... headers) {
        this.member = member;
        this.offset = (int) offset;
        // those that do not fill their bytes have 4
        this.bytes = bits <= Short.SIZE || bits % Short.SIZE == 0 ? bits / Byte.SIZE : Integer.BYTES;
        this.most = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
        this.headers = Set.of(headers);
    }

    /** Returns the name of the member in C. */
    String member() {
        return member;
    }

    /** Returns the largest value, in which all bits are set. */
    BigInteger most() {
        return most;
    }

    /** Throws IllegalArgumentException if a header does not have this field. */
    void requireIn(FlowSpecificationType header) {
        if (!headers.contains(header)) {
            throw new IllegalArgumentException(header + " has no field " + this);
        }
    }

    /** Returns the number that is an address; throws IllegalArgumentException if the field is not one for it. */
    BigInteger number(InetAddress address) {
        byte[] all = address.getAddress();
        if (!isAddress() || all.length != bytes) {
            throw new IllegalArgumentException(this + " cannot be " + address.getHostAddress());
        }
        return new BigInteger(1, all);
    }

    private boolean isAddress() {
        return member.endsWith("_ip");
    }

    /** Returns the value if it fits; throws IllegalArgumentException otherwise. */
    BigInteger check(BigInteger value, String part) {
        if (value.signum() < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException("the " + part + " of " + member + " must be from 0 to " + hex(most)
                    + ", not " + (value.signum() < 0 ? value.toString() : hex(value)));
        }
        return value;
    }

    /** Writes a value into a filter. */
    void write(BigInteger value, byte[] filter) {
        byte[] number = value.toByteArray();
        // toByteArray puts a zero byte in front of numbers whose top bit is set.
        int length = Math.min(number.length, bytes);
        System.arraycopy(number, number.length - length, filter, offset + bytes - length, length);
    }

    /** Returns the usual notation of a value. */
    String text(BigInteger value) {
        if (!isAddress()) {
            return hex(value);
        }
        byte[] address = new byte[offset + bytes];
        write(value, address);
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(address, offset, address.length)).getHostAddress();
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are always an address", e);
        }
    }

    private static String hex(BigInteger value) {
        return "0x" + value.toString(16);
    }
}
