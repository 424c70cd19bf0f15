// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * The attributes of a {@link ParentDomain} ({@code struct ibv_parent_domain_init_attr}, ibv_alloc_parent_domain(3)).
 * Immutable: the setters return a changed copy.
 */
public final class ParentDomainAttributes {
    private final ThreadDomain threadDomain;
    private final ParentDomainAllocator allocator;

    private ParentDomainAttributes(ThreadDomain threadDomain, ParentDomainAllocator allocator) {
        this.threadDomain = threadDomain;
        this.allocator = allocator;
    }

    /** {@return attributes with neither a thread domain nor an allocator} */
    public static ParentDomainAttributes create() {
        return new ParentDomainAttributes(null, null);
    }

    /**
     * Sets the thread domain.
     *
     * @param domain a thread domain of the same context
     * @return a copy of these attributes with the thread domain
     */
    public ParentDomainAttributes threadDomain(ThreadDomain domain) {
        return new ParentDomainAttributes(Objects.requireNonNull(domain, "domain"), allocator);
    }

    /**
     * Sets the allocator of the memory that queues live in ({@code IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS}).
     *
     * @param memory the allocator
     * @return a copy of these attributes with the allocator
     */
    public ParentDomainAttributes allocator(ParentDomainAllocator memory) {
        return new ParentDomainAttributes(threadDomain, Objects.requireNonNull(memory, "memory"));
    }

    /** {@return the thread domain, if any} */
    public Optional<ThreadDomain> threadDomain() {
        return Optional.ofNullable(threadDomain);
    }

    /** {@return the allocator, if any} */
    public Optional<ParentDomainAllocator> allocator() {
        return Optional.ofNullable(allocator);
    }
}
