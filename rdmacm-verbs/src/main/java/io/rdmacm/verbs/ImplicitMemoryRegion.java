// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * All memory of this process, present and future, as one region ({@link ProtectionDomain#registerAllMemory},
 * ibv_reg_mr(3)). A device with implicit on-demand paging fetches each page when it needs it, and nothing is pinned.
 * Work requests use {@linkplain #part parts} of the region, which cost no system call. A peer addresses memory by its
 * address in this process ({@link MemorySegment#address()}) and by {@link #remoteKey()}.
 *
 * <p>Remote access to this region is access to the whole process, including the heap and the code of the JVM. To a peer
 * that is not trusted, grant access to a {@link MemoryRegion} of its own or a memory window instead.
 *
 * <p>All methods are thread-safe. The region must be closed after its parts and before its protection domain.
 */
@CFunction("ibv_dereg_mr")
public final class ImplicitMemoryRegion extends NativeObject {

    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;

    ImplicitMemoryRegion(ProtectionDomain domain, Set<AccessFlag> access, Lifetime life, long address) {
        super(life, address, ibv_mr.sizeof());
        this.domain = domain;
        this.access = access;
    }

    /** {@return the protection domain that the region belongs to} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return what the memory may be used for; always includes {@link AccessFlag#ON_DEMAND}} */
    public Set<AccessFlag> access() {
        life().ensureOpen();
        return access;
    }

    /** {@return the key for work requests of this side ({@code lkey}), an unsigned number} */
    public int localKey() {
        return intMember(ibv_mr.lkey$offset());
    }

    /** {@return the key for work requests of a peer ({@code rkey}), an unsigned number} */
    public int remoteKey() {
        return intMember(ibv_mr.rkey$offset());
    }

    /**
     * Returns a part of this region for use in work requests. It has the keys of the whole region and can do what a
     * registered region can, except for {@link MemoryRegion#reregister}. Nothing is registered, and closing the part
     * revokes nothing: the device has access to the memory until the whole region is closed.
     *
     * <p>The memory must stay valid until the work requests that use it have completed. Work requests that still refer
     * to memory after it was freed complete with an error, or access whatever has taken its place.
     *
     * @param memory native memory, not empty; must not be read-only if the access flags allow writing
     * @return the part; to be closed before this region
     * @throws IllegalArgumentException for memory of the Java heap, empty memory, memory of a closed arena, or
     *         read-only memory
     */
    public MemoryRegion part(MemorySegment memory) {
        life().ensureOpen();
        return MemoryRegionFactory.part(this, domain, MemoryRegionFactory.checkMemory(memory, access), access);
    }
}
