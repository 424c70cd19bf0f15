// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.WorkQueue;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** What an asynchronous event tells ({@code enum ibv_event_type}, ibv_get_async_event(3)). */
public enum AsyncEventType {
    /** The completion queue has overrun, or the device can no longer write to it: it is of no use any more. */
    CQ_ERR(Rdma.IBV_EVENT_CQ_ERR(), Source.COMPLETION_QUEUE),
    /** An error of the queue pair that the device cannot report by a completion; it is in the error state. */
    QP_FATAL(Rdma.IBV_EVENT_QP_FATAL(), Source.QUEUE_PAIR),
    /** The peer sent something invalid: an invalid operation, or one that the queue pair does not take. */
    QP_REQ_ERR(Rdma.IBV_EVENT_QP_REQ_ERR(), Source.QUEUE_PAIR),
    /** The peer used memory that it may not use. */
    QP_ACCESS_ERR(Rdma.IBV_EVENT_QP_ACCESS_ERR(), Source.QUEUE_PAIR),
    /** A first packet came on a queue pair that is not ready to send yet: the connection is there. */
    COMM_EST(Rdma.IBV_EVENT_COMM_EST(), Source.QUEUE_PAIR),
    /** The send queue was brought to SQD, and what it had begun is done. */
    SQ_DRAINED(Rdma.IBV_EVENT_SQ_DRAINED(), Source.QUEUE_PAIR),
    /** The connection went over to its alternate path. */
    PATH_MIG(Rdma.IBV_EVENT_PATH_MIG(), Source.QUEUE_PAIR),
    /** The connection could not go over to its alternate path. */
    PATH_MIG_ERR(Rdma.IBV_EVENT_PATH_MIG_ERR(), Source.QUEUE_PAIR),
    /** The device has failed for good. */
    DEVICE_FATAL(Rdma.IBV_EVENT_DEVICE_FATAL(), Source.DEVICE),
    /** The link of the port came up. */
    PORT_ACTIVE(Rdma.IBV_EVENT_PORT_ACTIVE(), Source.PORT),
    /** The link of the port went down. */
    PORT_ERR(Rdma.IBV_EVENT_PORT_ERR(), Source.PORT),
    /** The local identifier of the port has changed. */
    LID_CHANGE(Rdma.IBV_EVENT_LID_CHANGE(), Source.PORT),
    /** The table of partition keys of the port has changed. */
    PKEY_CHANGE(Rdma.IBV_EVENT_PKEY_CHANGE(), Source.PORT),
    /** Another subnet manager took over. */
    SM_CHANGE(Rdma.IBV_EVENT_SM_CHANGE(), Source.PORT),
    /** The shared receive queue has failed. */
    SRQ_ERR(Rdma.IBV_EVENT_SRQ_ERR(), Source.SHARED_RECEIVE_QUEUE),
    /** The shared receive queue holds fewer requests than its limit; the limit is to be set again for the next one. */
    SRQ_LIMIT_REACHED(Rdma.IBV_EVENT_SRQ_LIMIT_REACHED(), Source.SHARED_RECEIVE_QUEUE),
    /** A queue pair in the error state will take nothing more from its shared receive queue. */
    QP_LAST_WQE_REACHED(Rdma.IBV_EVENT_QP_LAST_WQE_REACHED(), Source.QUEUE_PAIR),
    /** The subnet manager asks to register again. */
    CLIENT_REREGISTER(Rdma.IBV_EVENT_CLIENT_REREGISTER(), Source.PORT),
    /** The table of global identifiers of the port has changed. */
    GID_CHANGE(Rdma.IBV_EVENT_GID_CHANGE(), Source.PORT),
    /** The work queue has failed. */
    WQ_FATAL(Rdma.IBV_EVENT_WQ_FATAL(), Source.WORK_QUEUE),
    /** Newer than this library. */
    OTHER(-1, Source.DEVICE);

    /** What an event can be about. */
    public enum Source {
        /** A {@link CompletionQueue}. */
        COMPLETION_QUEUE,
        /** A {@link QueuePair}. */
        QUEUE_PAIR,
        /** A {@link SharedReceiveQueue}. */
        SHARED_RECEIVE_QUEUE,
        /** A {@link WorkQueue}. */
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

    /** The C constant. */
    public int value() {
        return value;
    }

    /** What events of this type are about. */
    public Source source() {
        return source;
    }

    /**
     * What the C library calls it, in a few words ({@code ibv_event_type_str}).
     *
     * @throws NativeLibraryException when libibverbs is not installed
     */
    @CFunction("ibv_event_type_str")
    public String text() throws NativeLibraryException {
        return Memory.string(EVENT_TYPE_STR.callLong(value));
    }

    /** The type of a C constant. */
    public static AsyncEventType of(int value) {
        for (AsyncEventType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return OTHER;
    }
}
