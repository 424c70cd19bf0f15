// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory for the queues of objects in a {@link ParentDomain} (ibv_alloc_parent_domain(3)). Called from inside the
 * calls that make and destroy these objects, by their threads. What it throws is logged, and the object is not made.
 */
public interface ParentDomainAllocator {
    /**
     * Memory for a queue. It must live until it is freed by {@link #free}.
     *
     * @param bytes how much
     * @param alignment a power of two
     * @param resourceType what for, by the numbers of the driver
     * @return native memory at least as large and so aligned; empty to let the driver allocate it
     */
    Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType);

    /**
     * The memory is not used any more.
     *
     * @param memory what {@link #allocate} gave
     * @param resourceType what for, by the numbers of the driver
     */
    void free(MemorySegment memory, long resourceType);
}
