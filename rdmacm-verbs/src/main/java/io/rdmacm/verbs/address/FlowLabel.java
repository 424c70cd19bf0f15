// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;

/** The 20-bit flow label of IPv6 headers, as used by RoCE version 2. */
public final class FlowLabel {
    /** The largest flow label. */
    public static final int MAX = 0xfffff;

    private static final int LOW = 0x3fff;
    private static final int LOW_BITS = 14;

    private FlowLabel() {
    }

    /**
     * Returns the UDP source port that RoCE version 2 derives from a flow label, so that switches spread flows over
     * their paths ({@code ibv_flow_label_to_udp_sport}).
     *
     * @param flowLabel 0 to {@link #MAX}
     * @return the port, from 0xC000 to 0xFFFF
     * @throws IllegalArgumentException if the flow label does not fit into 20 bits
     */
    @CFunction("ibv_flow_label_to_udp_sport")
    public static int toUdpSourcePort(int flowLabel) {
        if (flowLabel < 0 || flowLabel > MAX) {
            throw new IllegalArgumentException("the flow label must be from 0 to " + MAX + ", not " + flowLabel);
        }
        return (flowLabel & LOW) ^ (flowLabel >>> LOW_BITS) | Rdma.IB_ROCE_UDP_ENCAP_VALID_PORT_MIN();
    }
}
