// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/** What happened to an id ({@code enum rdma_cm_event_type}, rdma_get_cm_event(3)). */
public enum CmEventType {
    /** The address was resolved; the id is bound to a device. */
    ADDR_RESOLVED(Rdma.RDMA_CM_EVENT_ADDR_RESOLVED()),
    /** The address could not be resolved. */
    ADDR_ERROR(Rdma.RDMA_CM_EVENT_ADDR_ERROR()),
    /** The route was resolved. */
    ROUTE_RESOLVED(Rdma.RDMA_CM_EVENT_ROUTE_RESOLVED()),
    /** The route could not be resolved. */
    ROUTE_ERROR(Rdma.RDMA_CM_EVENT_ROUTE_ERROR()),
    /** A peer wants to connect: at the listening side. */
    CONNECT_REQUEST(Rdma.RDMA_CM_EVENT_CONNECT_REQUEST()),
    /** The peer accepted: only for an id without a queue pair of its own. */
    CONNECT_RESPONSE(Rdma.RDMA_CM_EVENT_CONNECT_RESPONSE()),
    /** The connection could not be established. */
    CONNECT_ERROR(Rdma.RDMA_CM_EVENT_CONNECT_ERROR()),
    /** The peer did not answer or cannot be reached. */
    UNREACHABLE(Rdma.RDMA_CM_EVENT_UNREACHABLE()),
    /** The peer rejected. */
    REJECTED(Rdma.RDMA_CM_EVENT_REJECTED()),
    /** The connection is established. */
    ESTABLISHED(Rdma.RDMA_CM_EVENT_ESTABLISHED()),
    /** The connection was ended. */
    DISCONNECTED(Rdma.RDMA_CM_EVENT_DISCONNECTED()),
    /** The device is going away. */
    DEVICE_REMOVAL(Rdma.RDMA_CM_EVENT_DEVICE_REMOVAL()),
    /** A multicast group was joined. */
    MULTICAST_JOIN(Rdma.RDMA_CM_EVENT_MULTICAST_JOIN()),
    /** A multicast group could not be joined, or was lost. */
    MULTICAST_ERROR(Rdma.RDMA_CM_EVENT_MULTICAST_ERROR()),
    /** The network device of the id has got another hardware address. */
    ADDR_CHANGE(Rdma.RDMA_CM_EVENT_ADDR_CHANGE()),
    /** The queue pair left the time-wait state: its number may be used again. */
    TIMEWAIT_EXIT(Rdma.RDMA_CM_EVENT_TIMEWAIT_EXIT());

    private static final NativeFunction EVENT_STR = NativeFunction.of("rdma_event_str");
    private static final CmEventType[] BY_VALUE = new CmEventType[values().length];

    static {
        for (CmEventType type : values()) {
            BY_VALUE[type.value] = type;
        }
    }

    private final int value;

    CmEventType(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /**
     * The name that librdmacm has for it ({@code rdma_event_str}), such as {@code RDMA_CM_EVENT_ESTABLISHED}.
     *
     * @throws io.rdmacm.verbs.NativeLibraryException when librdmacm is not installed
     */
    @CFunction("rdma_event_str")
    public String nativeName() throws RdmaException {
        return Memory.string(EVENT_STR.callLong(value));
    }

    /** Null for a type that is newer than this library. */
    static CmEventType of(int value) {
        return value >= 0 && value < BY_VALUE.length ? BY_VALUE[value] : null;
    }

    /** Whether nothing that was asked of the id before can happen any more. */
    boolean endsWaits() {
        return switch (this) {
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL,
                    MULTICAST_ERROR -> true;
            default -> false;
        };
    }
}
