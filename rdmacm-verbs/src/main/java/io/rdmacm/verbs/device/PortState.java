// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The logical state of a port ({@code enum ibv_port_state}, ibv_query_port(3)). */
public enum PortState {
    /** No state; also stands for one that is not known. */
    NOP(Rdma.IBV_PORT_NOP()),
    /** The link is down. */
    DOWN(Rdma.IBV_PORT_DOWN()),
    /** The link is up, but the port is not configured yet. */
    INIT(Rdma.IBV_PORT_INIT()),
    /** The port is configured, but not active yet. */
    ARMED(Rdma.IBV_PORT_ARMED()),
    /** The port can send and receive. */
    ACTIVE(Rdma.IBV_PORT_ACTIVE()),
    /** The port is active, but its link is down temporarily. */
    ACTIVE_DEFER(Rdma.IBV_PORT_ACTIVE_DEFER());

    private static final NativeFunction TEXT = NativeFunction.of("ibv_port_state_str");

    private final int value;

    PortState(int value) {
        this.value = value;
    }

    /** {@return the value of the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the description of the state by the C library ({@code ibv_port_state_str}, ibv_event_type_str(3)).
     *
     * @return a few words in English
     * @throws NativeLibraryException if libibverbs is not installed
     */
    @CFunction("ibv_port_state_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value));
    }

    /**
     * Returns the state of a C constant.
     *
     * @param value the value of the C constant
     * @return the state; {@link #NOP} if it is not known
     */
    public static PortState of(int value) {
        for (PortState constant : values()) {
            if (constant.value == value) {
                return constant;
            }
        }
        return NOP;
    }
}
