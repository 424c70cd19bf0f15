// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The type of an asynchronous event ({@code enum ibv_event_type}, ibv_get_async_event(3)). */
public enum AsyncEventType {
    /**
     * The completion queue is in error: it has overrun, or the device can no longer write to it. It cannot be used any
     * more.
     */
    CQ_ERR(Rdma.IBV_EVENT_CQ_ERR(), Source.COMPLETION_QUEUE),
    /**
     * An error occurred on the queue pair that cannot be reported by a completion; the queue pair is in the error
     * state.
     */
    QP_FATAL(Rdma.IBV_EVENT_QP_FATAL(), Source.QUEUE_PAIR),
    /**
     * The queue pair received an invalid request from its peer: an invalid operation, or one that it does not accept.
     */
    QP_REQ_ERR(Rdma.IBV_EVENT_QP_REQ_ERR(), Source.QUEUE_PAIR),
    /** The queue pair received a request from its peer that violates access rights to memory. */
    QP_ACCESS_ERR(Rdma.IBV_EVENT_QP_ACCESS_ERR(), Source.QUEUE_PAIR),
    /** The first packet arrived on a queue pair in the RTR state: communication is established. */
    COMM_EST(Rdma.IBV_EVENT_COMM_EST(), Source.QUEUE_PAIR),
    /** The send queue was moved to the SQD state, and the requests in progress have completed. */
    SQ_DRAINED(Rdma.IBV_EVENT_SQ_DRAINED(), Source.QUEUE_PAIR),
    /** The connection has migrated to its alternate path. */
    PATH_MIG(Rdma.IBV_EVENT_PATH_MIG(), Source.QUEUE_PAIR),
    /** The connection failed to migrate to its alternate path. */
    PATH_MIG_ERR(Rdma.IBV_EVENT_PATH_MIG_ERR(), Source.QUEUE_PAIR),
    /** The device is in a fatal error state. */
    DEVICE_FATAL(Rdma.IBV_EVENT_DEVICE_FATAL(), Source.DEVICE),
    /** The link of the port came up. */
    PORT_ACTIVE(Rdma.IBV_EVENT_PORT_ACTIVE(), Source.PORT),
    /** The link of the port went down. */
    PORT_ERR(Rdma.IBV_EVENT_PORT_ERR(), Source.PORT),
    /** The LID of the port was changed. */
    LID_CHANGE(Rdma.IBV_EVENT_LID_CHANGE(), Source.PORT),
    /** The partition key table of the port was changed. */
    PKEY_CHANGE(Rdma.IBV_EVENT_PKEY_CHANGE(), Source.PORT),
    /** The subnet manager of the port was changed. */
    SM_CHANGE(Rdma.IBV_EVENT_SM_CHANGE(), Source.PORT),
    /** An error occurred on the shared receive queue. */
    SRQ_ERR(Rdma.IBV_EVENT_SRQ_ERR(), Source.SHARED_RECEIVE_QUEUE),
    /**
     * The shared receive queue holds fewer requests than its limit. The limit must be set again to be notified again.
     */
    SRQ_LIMIT_REACHED(Rdma.IBV_EVENT_SRQ_LIMIT_REACHED(), Source.SHARED_RECEIVE_QUEUE),
    /** The queue pair is in the error state and will consume no more requests from its shared receive queue. */
    QP_LAST_WQE_REACHED(Rdma.IBV_EVENT_QP_LAST_WQE_REACHED(), Source.QUEUE_PAIR),
    /** The subnet manager asks clients to repeat their registrations. */
    CLIENT_REREGISTER(Rdma.IBV_EVENT_CLIENT_REREGISTER(), Source.PORT),
    /** The GID table of the port was changed. */
    GID_CHANGE(Rdma.IBV_EVENT_GID_CHANGE(), Source.PORT),
    /** An error occurred on the work queue; it is in the error state. */
    WQ_FATAL(Rdma.IBV_EVENT_WQ_FATAL(), Source.WORK_QUEUE),
    /** The speed of one or more ports of the device has changed; since rdma-core 62. */
    DEVICE_SPEED_CHANGE(Rdma.IBV_EVENT_DEVICE_SPEED_CHANGE(), Source.DEVICE),
    /** A type that this library does not know. */
    OTHER(-1, Source.DEVICE);

    /** What an event is about. */
    public enum Source {
        /** A {@link io.rdmacm.verbs.CompletionQueue}. */
        COMPLETION_QUEUE,
        /** A {@link io.rdmacm.verbs.QueuePair}. */
        QUEUE_PAIR,
        /** A {@link io.rdmacm.verbs.SharedReceiveQueue}. */
        SHARED_RECEIVE_QUEUE,
        /** A {@link io.rdmacm.verbs.WorkQueue}. */
        WORK_QUEUE,
        /** A port of the device. */
        PORT,
        /** The device as a whole. */
        DEVICE
    }

    private static final NativeFunction EVENT_TYPE_STR = NativeFunction.of("ibv_event_type_str");

    private final int value;
    private final Source source;

    AsyncEventType(int value, Source source) {
        this.value = value;
        this.source = source;
    }

    /** {@return the value of the C constant; -1 for {@link #OTHER}} */
    public int value() {
        return value;
    }

    /** {@return what events of this type are about} */
    public Source source() {
        return source;
    }

    /**
     * Returns the description of the type by the C library ({@code ibv_event_type_str}, ibv_event_type_str(3)).
     *
     * @return a few words in English
     * @throws NativeLibraryException if libibverbs is not installed
     */
    @CFunction("ibv_event_type_str")
    public String text() throws NativeLibraryException {
        return Memory.string(EVENT_TYPE_STR.callLong(value));
    }

    /**
     * Returns the type of a C constant.
     *
     * @param value the value of the C constant
     * @return the type; {@link #OTHER} if it is not known
     */
    public static AsyncEventType of(int value) {
        for (AsyncEventType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return OTHER;
    }
}
