// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/**
 * Options of a flow action for IPsec ESP ({@code IBV_FLOW_ACTION_ESP_FLAGS}, ibv_flow_action_esp(3)). Without any flag,
 * packets are decrypted in tunnel mode, and the ESP headers are left to the program (inline crypto).
 */
public enum EspFlag {
    /** The device also adds and removes ESP headers and trailers, and protects against replay. */
    FULL_OFFLOAD(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD()),
    /** Transport mode instead of tunnel mode. */
    TRANSPORT(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT()),
    /** Packets are encrypted instead of decrypted. */
    ENCRYPT(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT()),
    /**
     * The bottom of the replay window is in the upper half of the 32-bit sequence numbers; only for inline crypto with
     * an {@link EspAttributes#extendedSequence()}.
     */
    ESN_NEW_WINDOW(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW());

    private final int bit;

    EspFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
