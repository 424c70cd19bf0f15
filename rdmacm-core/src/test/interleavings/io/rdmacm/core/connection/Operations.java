// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.WorkCompletions.Completion;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/** Stands in for the class of this name, and for the device: what is sent arrives at once. */
final class Operations {
    private final Connection connection;

    Operations(Connection connection) {
        this.connection = connection;
    }

    void requireOwn(MemoryRegion region) {
    }

    void sendControl(@Nullable RegisteredSlice slice, int length) {
        send(slice == null ? new byte[0] : slice.memory().toArray(ValueLayout.JAVA_BYTE), LargeMessages.IMMEDIATE);
    }

    void send(byte[] data, @Nullable Integer immediate) {
        connection.ring.begin();
        connection.peer().arrive(new Completion(Connection.NUMBER, data, immediate, null));
        connection.arrive(new Completion(Connection.NUMBER, null, null, connection.ring::end));
    }

    long start(SendOpcode opcode, MemoryRegion region, long offset, long length, RemoteMemory remote, long remoteOffset,
            int immediate, OperationHandler handler, long context, boolean awaited) {
        connection.ring.begin();
        MemorySegment.copy(MemoryRegion.read(remote, remoteOffset, (int) length), 0, region.memory(), offset, length);
        connection.arrive(new Completion(Connection.NUMBER, null, null, () -> {
            connection.ring.end();
            handler.completed(connection, context, null);
        }));
        return 0;
    }
}
