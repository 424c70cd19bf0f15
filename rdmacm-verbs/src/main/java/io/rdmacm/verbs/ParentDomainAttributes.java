// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The attributes of a {@link ParentDomain} ({@code struct ibv_parent_domain_init_attr}, ibv_alloc_parent_domain(3)).
 * Immutable: the setters return a changed copy.
 */
public final class ParentDomainAttributes {
    private final @Nullable ThreadDomain threadDomain;
    private final @Nullable ParentDomainAllocator allocator;
    private final boolean unprotected;

    private ParentDomainAttributes(@Nullable ThreadDomain threadDomain, @Nullable ParentDomainAllocator allocator,
            boolean unprotected) {
        this.threadDomain = threadDomain;
        this.allocator = allocator;
        this.unprotected = unprotected;
    }

    /** {@return attributes with neither a thread domain nor an allocator, for protected memory} */
    public static ParentDomainAttributes create() {
        return new ParentDomainAttributes(null, null, false);
    }

    /**
     * Sets the thread domain.
     *
     * @param domain a thread domain of the same context
     * @return a copy of these attributes with the thread domain
     */
    public ParentDomainAttributes threadDomain(ThreadDomain domain) {
        return new ParentDomainAttributes(Objects.requireNonNull(domain, "domain"), allocator, unprotected);
    }

    /**
     * Sets the allocator of the memory that queues live in ({@code IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS}).
     *
     * @param memory the allocator
     * @return a copy of these attributes with the allocator
     */
    public ParentDomainAttributes allocator(ParentDomainAllocator memory) {
        return new ParentDomainAttributes(threadDomain, Objects.requireNonNull(memory, "memory"), unprotected);
    }

    /**
     * Sets whether, in a confidential VM, {@linkplain io.rdmacm.verbs.memory.VerbsBuffer buffers} of the domain are
     * shared with the device instead of being protected
     * ({@code IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC}; since rdma-core 64). The host can then read and
     * change them.
     *
     * @param on false by default
     * @return a copy of these attributes with this setting
     */
    public ParentDomainAttributes allowUnprotected(boolean on) {
        return new ParentDomainAttributes(threadDomain, allocator, on);
    }

    /** {@return the thread domain, if any} */
    public Optional<ThreadDomain> threadDomain() {
        return Optional.ofNullable(threadDomain);
    }

    /** {@return the allocator, if any} */
    public Optional<ParentDomainAllocator> allocator() {
        return Optional.ofNullable(allocator);
    }

    /** {@return whether buffers of the domain may be shared with the device in a confidential VM} */
    public boolean allowsUnprotected() {
        return unprotected;
    }
}
