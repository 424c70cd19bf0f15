// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * Matches the ports of the TCP or UDP header of packets ({@code struct ibv_flow_spec_tcp_udp}, ibv_create_flow(3)).
 * Created by {@link FlowMatch}. Immutable.
 */
public final class TcpUdpMatch extends FlowMatch {
    TcpUdpMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the destination port.
     *
     * @param port the port, 16 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public TcpUdpMatch destinationPort(int port) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_DST_PORT, port));
    }

    /**
     * Matches those bits of the destination port that are set in a mask.
     *
     * @param port the port, 16 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public TcpUdpMatch destinationPort(int port, int mask) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_DST_PORT, port, mask));
    }

    /**
     * Matches the source port.
     *
     * @param port the port, 16 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 16 bits
     */
    public TcpUdpMatch sourcePort(int port) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_SRC_PORT, port));
    }

    /**
     * Matches those bits of the source port that are set in a mask.
     *
     * @param port the port, 16 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 16 bits
     */
    public TcpUdpMatch sourcePort(int port, int mask) {
        return new TcpUdpMatch(fields().with(FlowField.TCP_UDP_SRC_PORT, port, mask));
    }

    @Override
    public TcpUdpMatch inner() {
        return new TcpUdpMatch(fields().ofInner());
    }
}
