// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import org.jspecify.annotations.Nullable;

/** The type of a {@link CmEvent} ({@code enum rdma_cm_event_type}, rdma_get_cm_event(3)). */
public enum CmEventType {
    /** The address was resolved, and the id is bound to a device. */
    ADDR_RESOLVED(Rdma.RDMA_CM_EVENT_ADDR_RESOLVED()),
    /** The address could not be resolved. */
    ADDR_ERROR(Rdma.RDMA_CM_EVENT_ADDR_ERROR()),
    /** The route was resolved. */
    ROUTE_RESOLVED(Rdma.RDMA_CM_EVENT_ROUTE_RESOLVED()),
    /** The route could not be resolved. */
    ROUTE_ERROR(Rdma.RDMA_CM_EVENT_ROUTE_ERROR()),
    /** A peer wants to connect to a listening id. */
    CONNECT_REQUEST(Rdma.RDMA_CM_EVENT_CONNECT_REQUEST()),
    /** The peer accepted. Reported only when the queue pair was not created by the id; ESTABLISHED otherwise. */
    CONNECT_RESPONSE(Rdma.RDMA_CM_EVENT_CONNECT_RESPONSE()),
    /** The connection could not be established. */
    CONNECT_ERROR(Rdma.RDMA_CM_EVENT_CONNECT_ERROR()),
    /** The peer cannot be reached or did not answer. */
    UNREACHABLE(Rdma.RDMA_CM_EVENT_UNREACHABLE()),
    /** The peer rejected the connection. */
    REJECTED(Rdma.RDMA_CM_EVENT_REJECTED()),
    /** The connection is established. */
    ESTABLISHED(Rdma.RDMA_CM_EVENT_ESTABLISHED()),
    /** The connection has ended. */
    DISCONNECTED(Rdma.RDMA_CM_EVENT_DISCONNECTED()),
    /** The device was removed. */
    DEVICE_REMOVAL(Rdma.RDMA_CM_EVENT_DEVICE_REMOVAL()),
    /** The multicast group was joined. */
    MULTICAST_JOIN(Rdma.RDMA_CM_EVENT_MULTICAST_JOIN()),
    /** The multicast group could not be joined, or the membership was lost. */
    MULTICAST_ERROR(Rdma.RDMA_CM_EVENT_MULTICAST_ERROR()),
    /** The hardware address of the network device has changed. */
    ADDR_CHANGE(Rdma.RDMA_CM_EVENT_ADDR_CHANGE()),
    /** The connection has left the time-wait state, and the number of its queue pair may be reused. */
    TIMEWAIT_EXIT(Rdma.RDMA_CM_EVENT_TIMEWAIT_EXIT()),
    /** {@link CmId#resolveAddressInfo} has found something. Since rdma-core 60. */
    ADDRINFO_RESOLVED(Rdma.RDMA_CM_EVENT_ADDRINFO_RESOLVED()),
    /** {@link CmId#resolveAddressInfo} has found nothing. Since rdma-core 60. */
    ADDRINFO_ERROR(Rdma.RDMA_CM_EVENT_ADDRINFO_ERROR()),
    /** The program has written the event, with {@link CmId#writeEvent}. Since rdma-core 60. */
    USER(Rdma.RDMA_CM_EVENT_USER()),
    /** Used inside librdmacm, which reports ADDRINFO_RESOLVED in its place. Since rdma-core 60. */
    INTERNAL(Rdma.RDMA_CM_EVENT_INTERNAL());

    private static final NativeFunction EVENT_STR = NativeFunction.of("rdma_event_str");
    // what rdma_event_str returns for USER and INTERNAL, and before rdma-core 60 also for the types of look-ups
    private static final String UNKNOWN = "UNKNOWN EVENT";
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

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the name of the C constant ({@code rdma_event_str}).
     *
     * @return the name, such as {@code RDMA_CM_EVENT_ESTABLISHED}
     * @throws RdmaException when librdmacm is not installed
     */
    @CFunction("rdma_event_str")
    public String nativeName() throws RdmaException {
        String text = Memory.string(EVENT_STR.callLong(value));
        return UNKNOWN.equals(text) ? "RDMA_CM_EVENT_" + name() : text;
    }

    /** Returns the type of a C constant; null when it is newer than this library. */
    static @Nullable CmEventType of(int value) {
        return value >= 0 && value < BY_VALUE.length ? BY_VALUE[value] : null;
    }

    /** Returns whether no operation that was started on the id before can succeed any more. */
    boolean endsWaits() {
        return switch (this) {
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL,
                    MULTICAST_ERROR, ADDRINFO_ERROR -> true;
            default -> false;
        };
    }

    /**
     * Returns whether events of this type have the parameters of a connection, or of datagrams where the id is for
     * datagrams. C leaves the union of parameters undefined in events of other types, except for those of multicast
     * groups and USER.
     */
    boolean hasParameters() {
        return switch (this) {
            case CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED, REJECTED, DISCONNECTED -> true;
            default -> false;
        };
    }
}
