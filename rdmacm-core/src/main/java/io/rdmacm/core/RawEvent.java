// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.bindings.rdma_ud_param;
import io.rdmacm.verbs.internal.Memory;

/**
 * An event that was read and not delivered yet.
 *
 * @param address of the {@code struct rdma_cm_event}
 * @param owner the id that the kernel counts it for, and that cannot be destroyed before it is acknowledged: the
 *        listening id for a connect request, else the id itself; null when that is gone
 * @param type what happened
 * @param copy null while the struct is C's; else what holds it, and the event is acknowledged already
 */
record RawEvent(long address, CmId owner, CmEventType type, MemorySegment copy) {
    private static final int MOST_PRIVATE_DATA = 256;

    int status() {
        return Memory.getInt(address + rdma_cm_event.status$offset());
    }

    /** The address of the id that the event is about; for a connect request the new one. */
    long id() {
        return Memory.getLong(address + rdma_cm_event.id$offset());
    }

    /** The address of {@code param}, a union of the parameters of connections and of datagrams. */
    long parameters() {
        return address + rdma_cm_event.param$offset();
    }

    boolean isMulticast() {
        return type == CmEventType.MULTICAST_JOIN || type == CmEventType.MULTICAST_ERROR;
    }

    /** What the membership was joined with: librdmacm gives it back in the place of the private data. */
    long multicastContext() {
        return Memory.getLong(parameters() + rdma_ud_param.private_data$offset());
    }

    /** The same event in memory of ours, for which C's can be given back. */
    RawEvent detached() {
        long size = rdma_cm_event.sizeof();
        MemorySegment memory = Arena.ofAuto().allocate(size + MOST_PRIVATE_DATA, Long.BYTES);
        long target = memory.address();
        Memory.copy(address, target, size);
        // Both members of the union begin with the private data and its length.
        long pointer = rdma_cm_event.param$offset() + rdma_conn_param.private_data$offset();
        long data = Memory.getLong(address + pointer);
        int length = Byte.toUnsignedInt(Memory.getByte(parameters() + rdma_conn_param.private_data_len$offset()));
        if (data != 0 && length != 0 && !isMulticast()) {
            Memory.copy(data, target + size, length);
            Memory.putLong(target + pointer, target + size);
        }
        return new RawEvent(target, owner, type, memory);
    }

    boolean isDetached() {
        return copy != null;
    }
}
