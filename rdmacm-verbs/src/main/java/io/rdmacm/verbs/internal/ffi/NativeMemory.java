// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/**
 * Allocates native memory for objects of this library. The JVM limits it, and throws an Error at the limit: one greedy
 * program, or one peer, would end threads that serve others. Here it is a failure like any other.
 */
public final class NativeMemory {
    // 0 until it is known; tests set another
    static volatile int pageSize;

    private NativeMemory() {
    }

    /**
     * Allocates zeroed memory that lives as long as it can be reached.
     *
     * @param function what it is needed for, for the message
     * @throws RdmaException ENOMEM if the limit is reached
     */
    public static MemorySegment allocate(String function, long bytes, long alignment) throws RdmaException {
        return get(function, () -> Arena.ofAuto().allocate(bytes, alignment));
    }

    /**
     * Allocates zeroed memory that begins with a page, as regions that start at address 0 require.
     *
     * @param function what it is needed for, for the message
     * @throws RdmaException ENOMEM if the limit is reached
     */
    public static MemorySegment allocatePages(String function, Arena arena, long bytes) throws RdmaException {
        if (pageSize == 0) {
            pageSize = Libc.pageSize();
        }
        return get(function, () -> arena.allocate(bytes, pageSize));
    }

    /**
     * Creates something that allocates native memory.
     *
     * @param <T> the type of the result
     * @param function what it is needed for, for the message
     * @param creator creates it
     * @throws RdmaException ENOMEM if the limit is reached
     */
    public static <T> T get(String function, Supplier<T> creator) throws RdmaException {
        try {
            return creator.get();
        } catch (OutOfMemoryError e) {
            RdmaException failure = Failures.of(function, Rdma.ENOMEM(), "native memory, see -XX:MaxDirectMemorySize");
            failure.initCause(e);
            throw failure;
        }
    }
}
