// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.Efa;
import io.rdmacm.bindings.efa.efadv_rq_depth_attr;
import io.rdmacm.bindings.efa.efadv_sq_depth_attr;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** How many work requests the queues of an EFA device can hold, which depends on the size of a request. */
public final class EfaQueueDepths {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction SENDS = NativeFunction.of("efadv_get_max_sq_depth");
    private static final NativeFunction RECEIVES = NativeFunction.of("efadv_get_max_rq_depth");

    private EfaQueueDepths() {
    }

    /**
     * Returns how many send work requests a queue pair can have ({@code efadv_get_max_sq_depth},
     * efadv_get_max_sq_depth(3); since rdma-core 63).
     *
     * @param context an EFA device
     * @param scatterGather the scatter/gather entries of a send
     * @param rdmaScatterGather the scatter/gather entries of an RDMA read or write
     * @param inlineData the bytes of inline data of a request
     * @param inlineWrites whether the queue pair has {@link EfaQueuePairFlag#INLINE_WRITE}
     * @return the number of requests
     * @throws IllegalArgumentException if a number is negative
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 63
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException EINVAL if the device does not allow so many entries or bytes
     */
    @CFunction("efadv_get_max_sq_depth")
    public static int maxSends(VerbsContext context, int scatterGather, int rdmaScatterGather, int inlineData,
            boolean inlineWrites) throws RdmaException {
        requireAtLeast("scatter/gather entries", scatterGather, 0);
        requireAtLeast("scatter/gather entries of RDMA operations", rdmaScatterGather, 0);
        requireAtLeast("bytes of inline data", inlineData, 0);
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(efadv_sq_depth_attr.layout()).address();
            Memory.putInt(struct + efadv_sq_depth_attr.flags$offset(),
                    inlineWrites ? Efa.EFADV_SQ_DEPTH_ATTR_INLINE_WRITE() : 0);
            Memory.putInt(struct + efadv_sq_depth_attr.max_send_sge$offset(), scatterGather);
            Memory.putInt(struct + efadv_sq_depth_attr.max_rdma_sge$offset(), rdmaScatterGather);
            Memory.putInt(struct + efadv_sq_depth_attr.max_inline_data$offset(), inlineData);
            return call(SENDS, context, struct, efadv_sq_depth_attr.sizeof());
        }
    }

    /**
     * Returns how many receive work requests a queue pair can have ({@code efadv_get_max_rq_depth},
     * efadv_get_max_rq_depth(3); since rdma-core 63).
     *
     * @param context an EFA device
     * @param scatterGather the scatter/gather entries of a receive, at least 1
     * @return the number of requests
     * @throws IllegalArgumentException if there is no entry
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 63
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException EINVAL if the device does not allow so many entries
     */
    @CFunction("efadv_get_max_rq_depth")
    public static int maxReceives(VerbsContext context, int scatterGather) throws RdmaException {
        // C divides by it
        requireAtLeast("scatter/gather entries", scatterGather, 1);
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(efadv_rq_depth_attr.layout()).address();
            Memory.putInt(struct + efadv_rq_depth_attr.max_recv_sge$offset(), scatterGather);
            return call(RECEIVES, context, struct, efadv_rq_depth_attr.sizeof());
        }
    }

    private static int call(NativeFunction function, VerbsContext context, long struct, long size)
            throws RdmaException {
        return VERBS.inside(context, (address, _) -> {
            int depth = function.callInt(address, struct, size);
            if (depth < 0) {
                throw Failures.of(function.name(), -depth);
            }
            return depth;
        });
    }

    private static void requireAtLeast(String what, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException("at least " + least + " " + what + ", not " + value);
        }
    }
}
