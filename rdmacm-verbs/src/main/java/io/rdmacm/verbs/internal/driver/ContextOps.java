// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The function table {@code ibv_context.ops}, which the inline functions of verbs.h call. Each pointer is read once,
 * when the object that uses it is created.
 */
public final class ContextOps {
    /** {@code ibv_poll_cq}. */
    public static final ContextOps POLL_CQ = new ContextOps("ibv_poll_cq", ibv_context_ops.poll_cq$offset());
    /** {@code ibv_req_notify_cq}. */
    public static final ContextOps REQ_NOTIFY_CQ = new ContextOps("ibv_req_notify_cq",
            ibv_context_ops.req_notify_cq$offset());
    /** {@code ibv_post_send}. */
    public static final ContextOps POST_SEND = new ContextOps("ibv_post_send", ibv_context_ops.post_send$offset());
    /** {@code ibv_post_recv}. */
    public static final ContextOps POST_RECV = new ContextOps("ibv_post_recv", ibv_context_ops.post_recv$offset());
    /** {@code ibv_post_srq_recv}. */
    public static final ContextOps POST_SRQ_RECV = new ContextOps("ibv_post_srq_recv",
            ibv_context_ops.post_srq_recv$offset());
    /** {@code ibv_alloc_mw}. */
    public static final ContextOps ALLOC_MW = new ContextOps("ibv_alloc_mw", ibv_context_ops.alloc_mw$offset());
    /** {@code ibv_bind_mw}. */
    public static final ContextOps BIND_MW = new ContextOps("ibv_bind_mw", ibv_context_ops.bind_mw$offset());
    /** {@code ibv_dealloc_mw}. */
    public static final ContextOps DEALLOC_MW = new ContextOps("ibv_dealloc_mw", ibv_context_ops.dealloc_mw$offset());

    private final String name;
    private final long offset;

    private ContextOps(String name, long offset) {
        this.name = name;
        this.offset = ibv_context.ops$offset() + offset;
    }

    /** Returns the name of the inline function. */
    public String name() {
        return name;
    }

    /**
     * Returns the function of a context.
     *
     * @param context the address of a {@code struct ibv_context}
     * @return the address of the function; 0 if the driver does not have it
     */
    public long of(long context) {
        return Memory.getLong(context + offset);
    }

    /**
     * Returns the function for the context of an object, for the data path.
     *
     * @param object the address of a CQ, QP or SRQ
     * @param critical whether to skip the thread state transition: only for a function that makes no system call
     */
    public DriverCall call(long object, boolean critical) {
        return DriverCall.of(of(contextOf(object)), critical);
    }

    /**
     * Returns the address of the context of an object, which is the first member of the struct.
     *
     * @param object the address of a CQ, QP, SRQ, MR, MW or PD
     */
    public static long contextOf(long object) {
        return Memory.getLong(object);
    }
}
