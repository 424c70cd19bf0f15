// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * The VXLAN header that packets of a flow have ({@code struct ibv_flow_spec_tunnel}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class TunnelMatch extends FlowMatch {
    TunnelMatch(FlowFields fields) {
        super(fields);
    }

    /** The number of the virtual network, 24 bits. */
    public TunnelMatch tunnelId(int id) {
        return new TunnelMatch(fields().with(FlowField.TUNNEL_ID, id));
    }

    /** Those bits of {@link #tunnelId(int)} that are set in a mask. */
    public TunnelMatch tunnelId(int id, int mask) {
        return new TunnelMatch(fields().with(FlowField.TUNNEL_ID, id, mask));
    }

    @Override
    public TunnelMatch inner() {
        return new TunnelMatch(fields().ofInner());
    }
}
