// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/** An atomic operation whose result arrives in a buffer of the connection. */
final class AtomicResult implements SendRing.Immediate {
    private final Connection connection;
    @SuppressWarnings("NullAway.Init")
    private RegisteredSlice slice;
    private long value;

    /** Creates it, without the lock: an operation that the end of the stack tears apart would be done later. */
    AtomicResult(Connection connection) {
        Stack.require();
        this.connection = connection;
    }

    /**
     * Starts the operation. With the lock of the connection held, when there is room and a buffer.
     *
     * @param handler calls {@link #take}
     */
    void start(SendOpcode opcode, RemoteMemory remote, long first, long second, OperationHandler handler)
            throws RdmaException {
        slice = connection.takeBuffer();
        try {
            connection.operations().startAtomic(opcode, slice.region(), slice.offset(), remote, 0, first, second,
                    handler, 0);
        } catch (Throwable t) {
            connection.giveBack(slice);
            throw t;
        }
    }

    /** Gives the buffer back, after the end of the operation, and returns what was in it. */
    Long take() {
        value = slice.memory().get(ValueLayout.JAVA_LONG, 0);
        connection.giveBack(slice);
        return value;
    }

    @Override
    public void completed(@Nullable Connection ignored, long context, @Nullable RdmaException failure) {
        take();
    }

    long value() {
        return value;
    }
}
