// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_parent_domain_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.AllocatorCalls;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;

/**
 * A protection domain on top of another one (ibv_alloc_parent_domain(3)). Objects created in it can use the memory
 * regions of the domain below. They are used by one thread at a time ({@link ThreadDomain}), or live in memory that the
 * caller provides ({@link ParentDomainAllocator}), or both. A parent domain must be closed before its thread domain and
 * the domain below.
 */
@CFunction("ibv_dealloc_pd")
public final class ParentDomain extends ProtectionDomain {
    private static final NativeFunction ALLOC_BUF = NativeFunction.of("ibv_alloc_buf");

    private final ProtectionDomain below;
    private final ParentDomainAttributes attributes;

    private ParentDomain(ProtectionDomain below, ParentDomainAttributes attributes, Lifetime life,
            long address) {
        super(below, life, address);
        this.below = below;
        this.attributes = attributes;
    }

    static ParentDomain allocate(ProtectionDomain below, ParentDomainAttributes attributes) throws RdmaException {
        List<Lifetime> parents = new ArrayList<>(List.of(below.life()));
        ThreadDomain threadDomain = attributes.threadDomain().orElse(null);
        if (threadDomain != null) {
            below.requireSameContext("thread domain", threadDomain.context());
            parents.add(threadDomain.life());
        }
        if (attributes.allowsUnprotected()) {
            // The flag came together with buffers; nothing else tells whether the library knows it.
            ALLOC_BUF.require();
        }
        AllocatorCalls calls = attributes.allocator()
                .map(allocator -> new AllocatorCalls(allocator::allocate, allocator::free)).orElse(null);
        return Lifetime.make(ParentDomain.class, parents, arena -> allocate(below, attributes, calls, arena),
                ProtectionDomain::free, (life, address) -> new ParentDomain(below, attributes, life, address),
                () -> close(calls));
    }

    private static long allocate(ProtectionDomain below, ParentDomainAttributes attributes,
            @Nullable AllocatorCalls calls, Arena arena) throws RdmaException {
        NativeFunction function = ExtendedOps.ALLOC_PARENT_DOMAIN.require(below.context().address());
        long init = arena.allocate(ibv_parent_domain_init_attr.layout()).address();
        Memory.putLong(init + ibv_parent_domain_init_attr.pd$offset(), below.address());
        attributes.threadDomain().ifPresent(threadDomain -> Memory.putLong(
                init + ibv_parent_domain_init_attr.td$offset(), threadDomain.address()));
        int mask = attributes.allowsUnprotected()
                ? Rdma.IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC()
                : 0;
        if (calls != null) {
            mask |= Rdma.IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS();
            Memory.putLong(init + ibv_parent_domain_init_attr.alloc$offset(), calls.allocate());
            Memory.putLong(init + ibv_parent_domain_init_attr.free$offset(), calls.free());
        }
        Memory.putInt(init + ibv_parent_domain_init_attr.comp_mask$offset(), mask);
        return Check.pointer(function, function.callLong(below.context().address(), init));
    }

    /** {@return the protection domain below this one} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return below;
    }

    /** {@return the attributes that this domain was allocated with} */
    public ParentDomainAttributes attributes() {
        life().ensureOpen();
        return attributes;
    }

    /**
     * Not supported: a parent domain can be allocated only on top of a plain protection domain.
     *
     * @throws IllegalArgumentException always
     */
    @Override
    public ParentDomain allocateParentDomain(ParentDomainAttributes other) {
        life().ensureOpen();
        throw new IllegalArgumentException("a parent domain needs a plain protection domain below it, not " + this);
    }

    private static void close(@Nullable AllocatorCalls calls) {
        if (calls != null) {
            calls.close();
        }
    }
}
