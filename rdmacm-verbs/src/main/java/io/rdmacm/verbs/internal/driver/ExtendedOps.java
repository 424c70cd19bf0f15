// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.verbs_context;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Downcalls;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * The function table {@code verbs_context}, which the inline functions of verbs.h call. The struct ends with the
 * {@code ibv_context} and grows at its beginning: a driver that is older than a member has a shorter struct, and a
 * driver of the first ABI has none at all. So the context is asked whether a member exists before it is read.
 */
public enum ExtendedOps {
    /** {@code ibv_query_port}. */
    QUERY_PORT("ibv_query_port", verbs_context.query_port$offset()),
    /** {@code ibv_advise_mr}. */
    ADVISE_MR("ibv_advise_mr", verbs_context.advise_mr$offset()),
    /** {@code ibv_alloc_null_mr}. */
    ALLOC_NULL_MR("ibv_alloc_null_mr", verbs_context.alloc_null_mr$offset()),
    /** {@code ibv_read_counters}. */
    READ_COUNTERS("ibv_read_counters", verbs_context.read_counters$offset()),
    /** {@code ibv_attach_counters_point_flow}. */
    ATTACH_COUNTERS_POINT_FLOW("ibv_attach_counters_point_flow", verbs_context.attach_counters_point_flow$offset()),
    /** {@code ibv_create_counters}. */
    CREATE_COUNTERS("ibv_create_counters", verbs_context.create_counters$offset()),
    /** {@code ibv_destroy_counters}. */
    DESTROY_COUNTERS("ibv_destroy_counters", verbs_context.destroy_counters$offset()),
    /** {@code ibv_reg_dm_mr}. */
    REG_DM_MR("ibv_reg_dm_mr", verbs_context.reg_dm_mr$offset()),
    /** {@code ibv_alloc_dm}. */
    ALLOC_DM("ibv_alloc_dm", verbs_context.alloc_dm$offset()),
    /** {@code ibv_free_dm}. */
    FREE_DM("ibv_free_dm", verbs_context.free_dm$offset()),
    /** {@code ibv_modify_flow_action_esp}. */
    MODIFY_FLOW_ACTION_ESP("ibv_modify_flow_action_esp", verbs_context.modify_flow_action_esp$offset()),
    /** {@code ibv_destroy_flow_action}. */
    DESTROY_FLOW_ACTION("ibv_destroy_flow_action", verbs_context.destroy_flow_action$offset()),
    /** {@code ibv_create_flow_action_esp}. */
    CREATE_FLOW_ACTION_ESP("ibv_create_flow_action_esp", verbs_context.create_flow_action_esp$offset()),
    /** {@code ibv_modify_qp_rate_limit}. */
    MODIFY_QP_RATE_LIMIT("ibv_modify_qp_rate_limit", verbs_context.modify_qp_rate_limit$offset()),
    /** {@code ibv_alloc_parent_domain}. */
    ALLOC_PARENT_DOMAIN("ibv_alloc_parent_domain", verbs_context.alloc_parent_domain$offset()),
    /** {@code ibv_dealloc_td}. */
    DEALLOC_TD("ibv_dealloc_td", verbs_context.dealloc_td$offset()),
    /** {@code ibv_alloc_td}. */
    ALLOC_TD("ibv_alloc_td", verbs_context.alloc_td$offset()),
    /** {@code ibv_modify_cq}. */
    MODIFY_CQ("ibv_modify_cq", verbs_context.modify_cq$offset()),
    /** {@code ibv_post_srq_ops}. */
    POST_SRQ_OPS("ibv_post_srq_ops", verbs_context.post_srq_ops$offset()),
    /** {@code ibv_destroy_rwq_ind_table}. */
    DESTROY_RWQ_IND_TABLE("ibv_destroy_rwq_ind_table", verbs_context.destroy_rwq_ind_table$offset()),
    /** {@code ibv_create_rwq_ind_table}. */
    CREATE_RWQ_IND_TABLE("ibv_create_rwq_ind_table", verbs_context.create_rwq_ind_table$offset()),
    /** {@code ibv_destroy_wq}. */
    DESTROY_WQ("ibv_destroy_wq", verbs_context.destroy_wq$offset()),
    /** {@code ibv_modify_wq}. */
    MODIFY_WQ("ibv_modify_wq", verbs_context.modify_wq$offset()),
    /** {@code ibv_create_wq}. */
    CREATE_WQ("ibv_create_wq", verbs_context.create_wq$offset()),
    /** {@code ibv_query_rt_values_ex}. */
    QUERY_RT_VALUES("ibv_query_rt_values_ex", verbs_context.query_rt_values$offset()),
    /** {@code ibv_create_cq_ex}. */
    CREATE_CQ_EX("ibv_create_cq_ex", verbs_context.create_cq_ex$offset()),
    /** {@code ibv_query_device_ex}. */
    QUERY_DEVICE_EX("ibv_query_device_ex", verbs_context.query_device_ex$offset()),
    /** {@code ibv_destroy_flow}. */
    DESTROY_FLOW("ibv_destroy_flow", verbs_context.ibv_destroy_flow$offset()),
    /** {@code ibv_create_flow}. */
    CREATE_FLOW("ibv_create_flow", verbs_context.ibv_create_flow$offset()),
    /** {@code ibv_open_qp}. */
    OPEN_QP("ibv_open_qp", verbs_context.open_qp$offset()),
    /** {@code ibv_create_qp_ex}. */
    CREATE_QP_EX("ibv_create_qp_ex", verbs_context.create_qp_ex$offset()),
    /** {@code ibv_get_srq_num}. */
    GET_SRQ_NUM("ibv_get_srq_num", verbs_context.get_srq_num$offset()),
    /** {@code ibv_create_srq_ex}. */
    CREATE_SRQ_EX("ibv_create_srq_ex", verbs_context.create_srq_ex$offset()),
    /** {@code ibv_open_xrcd}. */
    OPEN_XRCD("ibv_open_xrcd", verbs_context.open_xrcd$offset()),
    /** {@code ibv_close_xrcd}. */
    CLOSE_XRCD("ibv_close_xrcd", verbs_context.close_xrcd$offset());

    // __VERBS_ABI_IS_EXTENDED is a pointer with all bits set.
    private static final long ABI_IS_EXTENDED = -1;
    private static final long ABI_COMPAT = ibv_context.abi_compat$offset();
    private static final long CONTEXT = verbs_context.context$offset();
    private static final long SIZE_WORD = verbs_context.sz$offset() - CONTEXT;

    private final String function;
    private final long offset;
    // The size of the shortest struct that has the member, counted from its end.
    private final long neededSize;

    ExtendedOps(String function, long offset) {
        this.function = function;
        this.offset = offset;
        this.neededSize = verbs_context.sizeof() - offset;
    }

    /** Returns the name of the inline function. */
    public String function() {
        return function;
    }

    /**
     * Returns the function of a context, like the macro {@code verbs_get_ctx_op}.
     *
     * @param context the address of a {@code struct ibv_context}
     * @return the function; a null pointer if the driver does not have it
     */
    public MemorySegment of(long context) {
        return Downcalls.function(find(context));
    }

    /**
     * Returns the function of a context, for a call of the control path.
     *
     * @param context the address of a {@code struct ibv_context}
     * @throws io.rdmacm.verbs.error.RdmaUnsupportedException if the driver does not have it (EOPNOTSUPP)
     */
    public NativeFunction require(long context) throws RdmaException {
        long pointer = find(context);
        if (pointer == 0) {
            throw Failures.of(function, Rdma.EOPNOTSUPP());
        }
        return NativeFunction.at(function, pointer);
    }

    /** Returns what frees an object of a context with this function. */
    public Lifetime.Freer freer(long context) {
        return object -> require(context).free(object);
    }

    private long find(long context) {
        if (Memory.getLong(context + ABI_COMPAT) != ABI_IS_EXTENDED
                || Long.compareUnsigned(Memory.getLong(context + SIZE_WORD), neededSize) < 0) {
            return 0;
        }
        return Memory.getLong(context - CONTEXT + offset);
    }
}
