// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** What kind of a node a device is ({@code enum ibv_node_type}). */
public enum NodeType {
    /** Not known. */
    UNKNOWN(Rdma.IBV_NODE_UNKNOWN()),
    /** A channel adapter: InfiniBand and RoCE devices, SoftRoCE too. */
    CA(Rdma.IBV_NODE_CA()),
    /** An InfiniBand switch. */
    SWITCH(Rdma.IBV_NODE_SWITCH()),
    /** An InfiniBand router. */
    ROUTER(Rdma.IBV_NODE_ROUTER()),
    /** An iWARP device. */
    RNIC(Rdma.IBV_NODE_RNIC()),
    /** A usNIC device. */
    USNIC(Rdma.IBV_NODE_USNIC()),
    /** A usNIC device with the UDP protocol. */
    USNIC_UDP(Rdma.IBV_NODE_USNIC_UDP()),
    /** None of the others. */
    UNSPECIFIED(Rdma.IBV_NODE_UNSPECIFIED());

    private static final NativeFunction TEXT = NativeFunction.of("ibv_node_type_str");

    private final int value;

    NodeType(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /**
     * What the C library calls it, in a few words ({@code ibv_node_type_str}).
     *
     * @throws NativeLibraryException when libibverbs is not installed
     */
    @CFunction("ibv_node_type_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value));
    }

    /** The type of a C constant; {@link #UNKNOWN} for one that is not known. */
    public static NodeType of(int value) {
        for (NodeType constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
