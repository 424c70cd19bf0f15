// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * What a {@link ParentDomain} is made with ({@code struct ibv_parent_domain_init_attr}, ibv_alloc_parent_domain(3)).
 * Immutable.
 */
public final class ParentDomainAttributes {
    private final ThreadDomain threadDomain;
    private final ParentDomainAllocator allocator;

    private ParentDomainAttributes(ThreadDomain threadDomain, ParentDomainAllocator allocator) {
        this.threadDomain = threadDomain;
        this.allocator = allocator;
    }

    /** Neither a thread domain nor an allocator. */
    public static ParentDomainAttributes create() {
        return new ParentDomainAttributes(null, null);
    }

    /** With a thread domain, of the same context. */
    public ParentDomainAttributes threadDomain(ThreadDomain domain) {
        return new ParentDomainAttributes(Objects.requireNonNull(domain, "domain"), allocator);
    }

    /** With an allocator of the memory that queues live in ({@code IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS}). */
    public ParentDomainAttributes allocator(ParentDomainAllocator memory) {
        return new ParentDomainAttributes(threadDomain, Objects.requireNonNull(memory, "memory"));
    }

    /** The thread domain. */
    public Optional<ThreadDomain> threadDomain() {
        return Optional.ofNullable(threadDomain);
    }

    /** The allocator. */
    public Optional<ParentDomainAllocator> allocator() {
        return Optional.ofNullable(allocator);
    }
}
