// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_comp_cntr_caps;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.work.FlagSet;

/**
 * What the completion counters of a device can do ({@code struct ibv_comp_cntr_caps}, ibv_query_comp_cntr_caps(3)).
 *
 * @param maxValue the largest value of a counter, an unsigned number; a counter that would exceed it starts again at 0
 * @param maxCounters the maximum number of counters
 * @param operations the operations that can be counted
 */
public record CompletionCounterCapabilities(long maxValue, long maxCounters,
        FlagSet<CompletionCounterOperation> operations) {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("_ibv_query_comp_cntr_caps");

    /**
     * Queries what the completion counters of a device can do ({@code ibv_query_comp_cntr_caps}; since rdma-core 65).
     *
     * @param context the device
     * @return the limits and the operations that can be counted
     * @throws NativeLibraryException if the installed library is older than rdma-core 65
     * @throws RdmaUnsupportedException if the device has no completion counters
     * @throws RdmaException if the device fails
     */
    @CFunction({"ibv_query_comp_cntr_caps", "_ibv_query_comp_cntr_caps"})
    public static CompletionCounterCapabilities query(VerbsContext context) throws RdmaException {
        return VERBS.inside(context, (address, arena) -> {
            long caps = arena.allocate(ibv_comp_cntr_caps.layout()).address();
            int error = QUERY.callInt(address, caps, ibv_comp_cntr_caps.sizeof());
            if (error != 0) {
                throw Failures.of("ibv_query_comp_cntr_caps", Math.abs(error));
            }
            return new CompletionCounterCapabilities(Memory.getLong(caps + ibv_comp_cntr_caps.max_value$offset()),
                    Integer.toUnsignedLong(Memory.getInt(caps + ibv_comp_cntr_caps.max_counters$offset())),
                    CompletionCounterOperation.of(
                            Memory.getInt(caps + ibv_comp_cntr_caps.supported_qp_attach_ops$offset())));
        });
    }
}
