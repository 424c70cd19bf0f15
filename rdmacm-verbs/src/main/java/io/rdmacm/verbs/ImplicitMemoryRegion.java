// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * All memory of this process, present and future, as one region: a device with implicit on-demand paging takes each
 * page when it needs it, and nothing is pinned ({@link ProtectionDomain#registerAllMemory}, ibv_reg_mr(3)). Work
 * requests use {@link #part parts} of it, which cost no system call; a peer names memory by its own address
 * ({@link MemorySegment#address()}) and by {@link #remoteKey()}.
 *
 * <p>What remote access it grants, it grants to the whole process, the heap and the code of the JVM among it: a peer
 * that is not trusted must be given a {@link MemoryRegion} of its own, or a memory window.
 *
 * <p>All methods are safe for use by several threads. It must be closed after its parts and before its protection
 * domain.
 */
public final class ImplicitMemoryRegion extends NativeObject {
    private static final NativeFunction DEREG_MR = NativeFunction.of("ibv_dereg_mr");

    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;

    ImplicitMemoryRegion(ProtectionDomain domain, Set<AccessFlag> access, Lifetime life, long address) {
        super(life, address, ibv_mr.sizeof());
        this.domain = domain;
        this.access = access;
    }

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** What it may be used for; {@link AccessFlag#ON_DEMAND} is always there. */
    public Set<AccessFlag> access() {
        life().ensureOpen();
        return access;
    }

    /** The key for work requests of this side ({@code lkey}); an unsigned number. */
    public int localKey() {
        return intMember(ibv_mr.lkey$offset());
    }

    /** The key for work requests of a peer ({@code rkey}); an unsigned number. */
    public int remoteKey() {
        return intMember(ibv_mr.rkey$offset());
    }

    /**
     * A part of it for work requests, with the keys of the whole: as a registered region in all but
     * {@link MemoryRegion#reregister}. Nothing is registered, and its close lets go of nothing: the device reaches the
     * memory until the whole is closed. The memory must stay until the work that uses it is done; once it is gone,
     * work that still names it ends with an error, or touches what is at its place then.
     *
     * @param memory native, not empty, and not read-only when the access lets it be written
     * @throws IllegalArgumentException for memory of the Java heap, empty memory, memory of a closed arena, or
     *         read-only memory
     */
    public MemoryRegion part(MemorySegment memory) {
        life().ensureOpen();
        return MemoryRegionFactory.part(this, domain, MemoryRegionFactory.checkMemory(memory, access), access);
    }

    @Override
    @CFunction("ibv_dereg_mr")
    protected void destroy() throws RdmaException {
        Check.returned(DEREG_MR, DEREG_MR.callInt(address()));
    }
}
