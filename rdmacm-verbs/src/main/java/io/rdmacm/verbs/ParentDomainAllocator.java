// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Provides the memory that the queues of objects in a {@link ParentDomain} live in (ibv_alloc_parent_domain(3)). The
 * driver calls it while such an object is created or destroyed, in the thread that does so. An exception from
 * {@link #allocate} is logged and makes the creation fail; one from {@link #free} is logged.
 */
public interface ParentDomainAllocator {
    /**
     * Allocates memory for a queue. It must be zeroed, must not be copied on write when the process forks, and must
     * stay valid until it is passed to {@link #free}.
     *
     * @param bytes the size in bytes
     * @param alignment the alignment in bytes, a power of two
     * @param resourceType what the memory is for: the driver id in the upper 32 bits, a code of the driver in the lower
     *         ones
     * @return native memory of at least this size and alignment; empty to let the driver allocate it
     */
    Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType);

    /**
     * Frees memory that the driver no longer uses.
     *
     * @param memory the segment that {@link #allocate} returned
     * @param resourceType what the memory was for, as in {@link #allocate}
     */
    void free(MemorySegment memory, long resourceType);
}
