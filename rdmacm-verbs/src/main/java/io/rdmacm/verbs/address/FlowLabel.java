// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;

/** The flow label of IPv6 headers, 20 bits, as RoCE version 2 uses it. */
public final class FlowLabel {
    /** The largest flow label. */
    public static final int MAX = 0xfffff;

    private static final int LOW = 0x3fff;
    private static final int LOW_BITS = 14;

    private FlowLabel() {
    }

    /**
     * The UDP source port that a flow label stands for, so that switches spread the flows over their paths
     * ({@code ibv_flow_label_to_udp_sport}).
     *
     * @param flowLabel 0 to {@link #MAX}
     * @return 0xC000 to 0xFFFF
     */
    @CFunction("ibv_flow_label_to_udp_sport")
    public static int toUdpSourcePort(int flowLabel) {
        if (flowLabel < 0 || flowLabel > MAX) {
            throw new IllegalArgumentException("a flow label is 0 to " + MAX + ", not " + flowLabel);
        }
        return (flowLabel & LOW) ^ (flowLabel >>> LOW_BITS) | Rdma.IB_ROCE_UDP_ENCAP_VALID_PORT_MIN();
    }
}
