// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The type of node that a device is ({@code enum ibv_node_type}, ibv_event_type_str(3)). */
public enum NodeType {
    /** Not known. */
    UNKNOWN(Rdma.IBV_NODE_UNKNOWN()),
    /** A channel adapter: InfiniBand and RoCE devices, including SoftRoCE. */
    CA(Rdma.IBV_NODE_CA()),
    /** An InfiniBand switch. */
    SWITCH(Rdma.IBV_NODE_SWITCH()),
    /** An InfiniBand router. */
    ROUTER(Rdma.IBV_NODE_ROUTER()),
    /** An iWARP device. */
    RNIC(Rdma.IBV_NODE_RNIC()),
    /** A usNIC device. */
    USNIC(Rdma.IBV_NODE_USNIC()),
    /** A usNIC device that uses UDP. */
    USNIC_UDP(Rdma.IBV_NODE_USNIC_UDP()),
    /** A device of no particular type. */
    UNSPECIFIED(Rdma.IBV_NODE_UNSPECIFIED());

    private static final NativeFunction TEXT = NativeFunction.of("ibv_node_type_str");

    private final int value;

    NodeType(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the description of the type by the C library ({@code ibv_node_type_str}, ibv_event_type_str(3)).
     *
     * @return a few words in English
     * @throws NativeLibraryException if libibverbs is not installed
     */
    @CFunction("ibv_node_type_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value));
    }

    /**
     * Returns the type of a C constant.
     *
     * @param value the value of the C constant
     * @return the type; {@link #UNKNOWN} if it is not known
     */
    public static NodeType of(int value) {
        for (NodeType constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
