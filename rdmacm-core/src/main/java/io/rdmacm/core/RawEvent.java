// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.bindings.rdma_ud_param;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * An event that was read from the kernel but not yet delivered to the program.
 *
 * @param address the address of the {@code struct rdma_cm_event}
 * @param owner the id that cannot be destroyed before the event is acknowledged: the listening id for a connect
 *        request, otherwise the id that the event is about; null when this channel does not know it
 * @param type the type
 * @param copy null while the struct belongs to C; otherwise the memory that it was copied to before the event was
 *        acknowledged
 */
record RawEvent(long address, @Nullable CmId owner, CmEventType type, @Nullable MemorySegment copy) {
    private static final int MOST_PRIVATE_DATA = 256;

    int status() {
        return Memory.getInt(address + rdma_cm_event.status$offset());
    }

    /** Returns the address of the id that the event is about; for a connect request the new one. */
    long id() {
        return Memory.getLong(address + rdma_cm_event.id$offset());
    }

    /** Returns the address of {@code param}, a union of which each type uses one member or none. */
    long parameters() {
        return address + rdma_cm_event.param$offset();
    }

    boolean isMulticast() {
        return type == CmEventType.MULTICAST_JOIN || type == CmEventType.MULTICAST_ERROR;
    }

    /** Returns what the program wrote. Only for USER. */
    long argument() {
        return Memory.getLong(parameters() + rdma_cm_event.param.arg$offset());
    }

    /** Returns the context that the group was joined with, which librdmacm puts in place of the private data. */
    long multicastContext() {
        return Memory.getLong(parameters() + rdma_ud_param.private_data$offset());
    }

    /** Copies the event into memory of its own, so that the original can be acknowledged. */
    RawEvent detached() throws RdmaException {
        long size = rdma_cm_event.sizeof();
        MemorySegment memory = NativeMemory.allocate("rdma_migrate_id", size + MOST_PRIVATE_DATA, Long.BYTES);
        long target = memory.address();
        Memory.copy(address, target, size);
        if (type.hasParameters()) {
            // The parameters of connections and of datagrams start with the private data and its length.
            long pointer = rdma_cm_event.param$offset() + rdma_conn_param.private_data$offset();
            long data = Memory.getLong(address + pointer);
            int length = Byte.toUnsignedInt(Memory.getByte(parameters() + rdma_conn_param.private_data_len$offset()));
            if (data != 0 && length != 0) {
                Memory.copy(data, target + size, length);
                Memory.putLong(target + pointer, target + size);
            }
        }
        return new RawEvent(target, owner, type, memory);
    }

    boolean isDetached() {
        return copy != null;
    }
}
