// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

import io.rdmacm.bindings.ibv_flow_esp_filter;
import io.rdmacm.bindings.ibv_flow_eth_filter;
import io.rdmacm.bindings.ibv_flow_gre_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_ext_filter;
import io.rdmacm.bindings.ibv_flow_ipv4_filter;
import io.rdmacm.bindings.ibv_flow_ipv6_filter;
import io.rdmacm.bindings.ibv_flow_mpls_filter;
import io.rdmacm.bindings.ibv_flow_tcp_udp_filter;
import io.rdmacm.bindings.ibv_flow_tunnel_filter;

/** A member of one of the filter structs of flow rules. All members are numbers in network byte order. */
enum FlowField {
    ETH_DST_MAC("dst_mac", ibv_flow_eth_filter.dst_mac$offset(), ibv_flow_eth_filter.dst_mac$layout().byteSize()),
    ETH_SRC_MAC("src_mac", ibv_flow_eth_filter.src_mac$offset(), ibv_flow_eth_filter.src_mac$layout().byteSize()),
    ETH_ETHER_TYPE("ether_type", ibv_flow_eth_filter.ether_type$offset(), Short.BYTES),
    ETH_VLAN_TAG("vlan_tag", ibv_flow_eth_filter.vlan_tag$offset(), Short.BYTES),
    IPV4_SRC_IP("src_ip", ibv_flow_ipv4_filter.src_ip$offset(), Integer.BYTES),
    IPV4_DST_IP("dst_ip", ibv_flow_ipv4_filter.dst_ip$offset(), Integer.BYTES),
    IPV4_EXT_SRC_IP("src_ip", ibv_flow_ipv4_ext_filter.src_ip$offset(), Integer.BYTES),
    IPV4_EXT_DST_IP("dst_ip", ibv_flow_ipv4_ext_filter.dst_ip$offset(), Integer.BYTES),
    IPV4_EXT_PROTO("proto", ibv_flow_ipv4_ext_filter.proto$offset(), Byte.BYTES),
    IPV4_EXT_TOS("tos", ibv_flow_ipv4_ext_filter.tos$offset(), Byte.BYTES),
    IPV4_EXT_TTL("ttl", ibv_flow_ipv4_ext_filter.ttl$offset(), Byte.BYTES),
    IPV4_EXT_FLAGS("flags", ibv_flow_ipv4_ext_filter.flags$offset(), Byte.BYTES),
    IPV6_SRC_IP("src_ip", ibv_flow_ipv6_filter.src_ip$offset(), ibv_flow_ipv6_filter.src_ip$layout().byteSize()),
    IPV6_DST_IP("dst_ip", ibv_flow_ipv6_filter.dst_ip$offset(), ibv_flow_ipv6_filter.dst_ip$layout().byteSize()),
    IPV6_FLOW_LABEL("flow_label", ibv_flow_ipv6_filter.flow_label$offset(), Integer.BYTES, 20),
    IPV6_NEXT_HDR("next_hdr", ibv_flow_ipv6_filter.next_hdr$offset(), Byte.BYTES),
    IPV6_TRAFFIC_CLASS("traffic_class", ibv_flow_ipv6_filter.traffic_class$offset(), Byte.BYTES),
    IPV6_HOP_LIMIT("hop_limit", ibv_flow_ipv6_filter.hop_limit$offset(), Byte.BYTES),
    ESP_SPI("spi", ibv_flow_esp_filter.spi$offset(), Integer.BYTES),
    ESP_SEQ("seq", ibv_flow_esp_filter.seq$offset(), Integer.BYTES),
    TCP_UDP_DST_PORT("dst_port", ibv_flow_tcp_udp_filter.dst_port$offset(), Short.BYTES),
    TCP_UDP_SRC_PORT("src_port", ibv_flow_tcp_udp_filter.src_port$offset(), Short.BYTES),
    GRE_FLAGS("c_ks_res0_ver", ibv_flow_gre_filter.c_ks_res0_ver$offset(), Short.BYTES),
    GRE_PROTOCOL("protocol", ibv_flow_gre_filter.protocol$offset(), Short.BYTES),
    GRE_KEY("key", ibv_flow_gre_filter.key$offset(), Integer.BYTES),
    MPLS_ENTRY("label", ibv_flow_mpls_filter.label$offset(), Integer.BYTES),
    TUNNEL_ID("tunnel_id", ibv_flow_tunnel_filter.tunnel_id$offset(), Integer.BYTES, 24);

    private final String member;
    private final int offset;
    private final int bytes;
    private final BigInteger most;

    FlowField(String member, long offset, long bytes) {
        this(member, offset, bytes, (int) bytes * Byte.SIZE);
    }

    FlowField(String member, long offset, long bytes, int bits) {
        this.member = member;
        this.offset = (int) offset;
        this.bytes = (int) bytes;
        this.most = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
    }

    /** Returns the name of the member in C. */
    String member() {
        return member;
    }

    /** Returns the largest value, in which all bits are set. */
    BigInteger most() {
        return most;
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
        if (!member.endsWith("_ip")) {
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
