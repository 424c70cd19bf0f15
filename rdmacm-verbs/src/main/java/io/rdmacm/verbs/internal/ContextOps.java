// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;

/**
 * The functions of {@code ibv_context.ops}, which the inline functions of verbs.h call. The pointers are read once,
 * when an object is made.
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

    /** The name of the inline function. */
    public String name() {
        return name;
    }

    /**
     * The function of a context.
     *
     * @param context the address of a {@code struct ibv_context}
     * @return a null pointer where the driver lacks it
     */
    public MemorySegment of(long context) {
        return Shape.function(Memory.getLong(context + offset));
    }

    /**
     * The context of a CQ, QP, SRQ, MR, MW or PD: its first member.
     *
     * @param object the address of one of them
     */
    public static long contextOf(long object) {
        return Memory.getLong(object);
    }
}
