// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * Matches the VXLAN header of packets ({@code struct ibv_flow_spec_tunnel}, ibv_create_flow(3)). Created by
 * {@link FlowMatch}. Immutable.
 */
public final class TunnelMatch extends FlowMatch {
    TunnelMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the VXLAN network identifier (VNI).
     *
     * @param id the identifier, 24 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 24 bits
     */
    public TunnelMatch tunnelId(int id) {
        return new TunnelMatch(fields().with(FlowField.TUNNEL_ID, id));
    }

    /**
     * Matches those bits of the VXLAN network identifier (VNI) that are set in a mask.
     *
     * @param id the identifier, 24 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 24 bits
     */
    public TunnelMatch tunnelId(int id, int mask) {
        return new TunnelMatch(fields().with(FlowField.TUNNEL_ID, id, mask));
    }

    @Override
    public TunnelMatch inner() {
        return new TunnelMatch(fields().ofInner());
    }
}
