// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/**
 * How packets are encrypted or decrypted ({@code IBV_FLOW_ACTION_ESP_FLAGS}, ibv_create_flow_action(3)). Without any
 * they are decrypted, in tunnel mode, with their headers left to the program (inline crypto).
 */
public enum EspFlag {
    /** The device adds and removes headers and trailers, too, and guards against replay. */
    FULL_OFFLOAD(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD()),
    /** Transport mode instead of tunnel mode. */
    TRANSPORT(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT()),
    /** Packets are encrypted instead of decrypted. */
    ENCRYPT(Rdma.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT()),
    /**
     * The bottom of the replay window is in the upper half of the sequence numbers; with inline crypto and an
     * {@link EspAttributes#extendedSequence()} only.
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
