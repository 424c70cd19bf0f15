// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import io.rdmacm.bindings.ibv_srq_attr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;

/** Converts the attributes of shared receive queues to and from C structs. */
public final class SharedReceiveQueueStructs {
    private SharedReceiveQueueStructs() {
    }

    /**
     * Reads a {@code struct ibv_srq_attr}.
     *
     * @param address the address of the struct
     * @return the attributes
     */
    public static SharedReceiveQueueAttributes read(long address) {
        return new SharedReceiveQueueAttributes(Memory.getSize(address + ibv_srq_attr.max_wr$offset()),
                Memory.getSize(address + ibv_srq_attr.max_sge$offset()),
                Memory.getSize(address + ibv_srq_attr.srq_limit$offset()));
    }

    /**
     * Writes a {@code struct ibv_srq_attr}.
     *
     * @param attributes the attributes
     * @param address the address of the struct
     */
    public static void write(SharedReceiveQueueAttributes attributes, long address) {
        Memory.putInt(address + ibv_srq_attr.max_wr$offset(), attributes.maxRequests());
        Memory.putInt(address + ibv_srq_attr.max_sge$offset(), attributes.maxScatterGather());
        Memory.putInt(address + ibv_srq_attr.srq_limit$offset(), attributes.limit());
    }
}
