// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * The ports that TCP or UDP packets of a flow have ({@code struct ibv_flow_spec_tcp_udp}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class TcpUdpMatch extends FlowMatch {
    TcpUdpMatch(FlowFields fields) {
        super(fields);
    }

    /** The destination's port, 16 bits. */
    public TcpUdpMatch destinationPort(int port) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_DST_PORT, port));
    }

    /** Those bits of {@link #destinationPort(int)} that are set in a mask. */
    public TcpUdpMatch destinationPort(int port, int mask) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_DST_PORT, port, mask));
    }

    /** The source's port, 16 bits. */
    public TcpUdpMatch sourcePort(int port) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_SRC_PORT, port));
    }

    /** Those bits of {@link #sourcePort(int)} that are set in a mask. */
    public TcpUdpMatch sourcePort(int port, int mask) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_SRC_PORT, port, mask));
    }

    @Override
    public TcpUdpMatch inner() {
        return new TcpUdpMatch(fields().ofInner());
    }
}
