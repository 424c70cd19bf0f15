// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** Stands in for the class of this name: counts what is in flight. Used with the lock of the loop held. */
final class SendRing {
    private final int capacity;
    private int inFlight;

    SendRing(int capacity) {
        this.capacity = capacity;
    }

    /** A handler that is called with the lock held. */
    @FunctionalInterface
    interface Immediate extends OperationHandler {
        @Override
        void completed(@Nullable Connection none, long context, @Nullable RdmaException failure);
    }

    int free() {
        return capacity - inFlight;
    }

    RegisteredSlice takeSlice() {
        return new RegisteredSlice(RemoteMemory.BYTES, null);
    }

    void begin() {
        if (free() == 0) {
            throw new AssertionError("there is no room");
        }
        inFlight++;
    }

    void end() {
        inFlight--;
    }
}
