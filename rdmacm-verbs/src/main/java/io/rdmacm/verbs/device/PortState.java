// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The state of a port ({@code enum ibv_port_state}, ibv_query_port(3)). */
public enum PortState {
    /** No state: also one that is not known. */
    NOP(Rdma.IBV_PORT_NOP()),
    /** The link is down. */
    DOWN(Rdma.IBV_PORT_DOWN()),
    /** The link is up, not yet configured. */
    INIT(Rdma.IBV_PORT_INIT()),
    /** Configured, not yet active. */
    ARMED(Rdma.IBV_PORT_ARMED()),
    /** Can send and receive. */
    ACTIVE(Rdma.IBV_PORT_ACTIVE()),
    /** Active, with the link down for a moment. */
    ACTIVE_DEFER(Rdma.IBV_PORT_ACTIVE_DEFER());

    private static final NativeFunction TEXT = NativeFunction.of("ibv_port_state_str");

    private final int value;

    PortState(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /**
     * What the C library calls it, in a few words ({@code ibv_port_state_str}).
     *
     * @throws NativeLibraryException when libibverbs is not installed
     */
    @CFunction("ibv_port_state_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value));
    }

    /** The state of a C constant; {@link #NOP} for one that is not known. */
    public static PortState of(int value) {
        for (PortState constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return NOP;
    }
}
