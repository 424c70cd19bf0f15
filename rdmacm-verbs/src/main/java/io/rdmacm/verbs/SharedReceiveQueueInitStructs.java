// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.ibv_tm_cap;
import io.rdmacm.verbs.internal.codec.SharedReceiveQueueStructs;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;

/** Writes the init attributes of shared receive queues to C structs. They hold addresses of other objects. */
final class SharedReceiveQueueInitStructs {
    private SharedReceiveQueueInitStructs() {
    }

    /** Allocates and writes a {@code struct ibv_srq_init_attr_ex}. */
    static long write(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, Arena arena) {
        long address = arena.allocate(ibv_srq_init_attr_ex.layout()).address();
        SharedReceiveQueueStructs.write(init.attributes(), address + ibv_srq_init_attr_ex.attr$offset());
        Memory.putInt(address + ibv_srq_init_attr_ex.srq_type$offset(), init.type().value());
        Memory.putLong(address + ibv_srq_init_attr_ex.pd$offset(), domain.address());
        int mask = Rdma.IBV_SRQ_INIT_ATTR_TYPE() | Rdma.IBV_SRQ_INIT_ATTR_PD();
        if (init.xrcDomain().isPresent()) {
            Memory.putLong(address + ibv_srq_init_attr_ex.xrcd$offset(), init.xrcDomain().get().address());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_XRCD();
        }
        if (init.completionQueue().isPresent()) {
            Memory.putLong(address + ibv_srq_init_attr_ex.cq$offset(), init.completionQueue().get().address());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_CQ();
        }
        if (init.type() == SharedReceiveQueueType.TM) {
            long capacity = address + ibv_srq_init_attr_ex.tm_cap$offset();
            Memory.putInt(capacity + ibv_tm_cap.max_num_tags$offset(), init.maxTags());
            Memory.putInt(capacity + ibv_tm_cap.max_ops$offset(), init.maxOperations());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_TM();
        }
        Memory.putInt(address + ibv_srq_init_attr_ex.comp_mask$offset(), mask);
        return address;
    }
}
