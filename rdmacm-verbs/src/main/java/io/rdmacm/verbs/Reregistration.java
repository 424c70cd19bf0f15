// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.internal.Errno;
import io.rdmacm.verbs.internal.Flags;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * What {@link MemoryRegion#reregister} changes ({@code enum ibv_rereg_mr_flags}, ibv_rereg_mr(3)); what is not named
 * stays. Immutable.
 */
public final class Reregistration {
    private static final NativeFunction REREG_MR = NativeFunction.of("ibv_rereg_mr");

    private final MemorySegment memory;
    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;

    private Reregistration(MemorySegment memory, ProtectionDomain domain, Set<AccessFlag> access) {
        this.memory = memory;
        this.domain = domain;
        this.access = access;
    }

    /** Nothing yet. */
    public static Reregistration change() {
        return new Reregistration(null, null, null);
    }

    /** Other memory of the caller's ({@code IBV_REREG_MR_CHANGE_TRANSLATION}), under its own address. */
    public Reregistration memory(MemorySegment other) {
        return new Reregistration(MemoryRegions.checkMemory(other, Set.of()), domain, access);
    }

    /** Another protection domain of the same context ({@code IBV_REREG_MR_CHANGE_PD}). */
    public Reregistration protectionDomain(ProtectionDomain other) {
        other.life().ensureOpen();
        return new Reregistration(memory, other, access);
    }

    /** Other uses ({@code IBV_REREG_MR_CHANGE_ACCESS}). */
    public Reregistration access(AccessFlag... other) {
        return new Reregistration(memory, domain, MemoryRegions.checkAccess(Set.copyOf(Arrays.asList(other))));
    }

    /** Inside the region: nobody else changes it, and it does not close. */
    void apply(MemoryRegion region) throws RdmaException {
        Registration old = region.now();
        check(region, old);
        ProtectionDomain newDomain = domain == null ? old.domain() : domain;
        Set<AccessFlag> newAccess = access == null ? old.access() : access;
        MemorySegment newMemory = memory == null ? old.memory() : MemoryRegions.checkMemory(memory, newAccess);
        // Until the outcome is known, neither domain may close.
        boolean moves = newDomain != old.domain();
        if (moves) {
            region.life().addParent(newDomain.life());
        }
        ReregistrationException.Outcome outcome = ReregistrationException.Outcome.UNCHANGED;
        try {
            int result = REREG_MR.callInt(region.address(), flags(), domain == null ? 0 : domain.address(),
                    memory == null ? 0 : memory.address(), memory == null ? 0 : memory.byteSize(),
                    access == null ? 0 : Flags.mask(access, AccessFlag::bit));
            int error = result == 0 ? 0 : Errno.last();
            outcome = ReregistrationException.Outcome.of(result, error);
            if (outcome == ReregistrationException.Outcome.CHANGED) {
                region.become(Registration.of(region.address(), newDomain, newMemory, newAccess,
                        memory == null ? old.start() : memory.address(), newMemory.byteSize()));
            } else if (outcome == ReregistrationException.Outcome.UNUSABLE) {
                region.becomeUnusable();
            }
            if (result != 0) {
                throw ReregistrationException.of(result, error, outcome);
            }
        } finally {
            if (moves && outcome != ReregistrationException.Outcome.UNUSABLE) {
                Lifetime unused = outcome == ReregistrationException.Outcome.CHANGED ? old.domain().life()
                        : newDomain.life();
                region.life().removeParent(unused);
            }
        }
    }

    private void check(MemoryRegion region, Registration old) {
        if (memory == null && domain == null && access == null) {
            throw new IllegalArgumentException("nothing to change: call memory, protectionDomain or access");
        }
        if (region.origin() == MemoryRegion.Origin.PART) {
            throw new IllegalStateException(region + " is part of an implicit region: it cannot be changed");
        }
        if (old.memory() == null) {
            throw new IllegalStateException(region + " is not memory of this process: it cannot be changed");
        }
        if (domain != null && domain.context() != old.domain().context()) {
            throw new IllegalArgumentException("the protection domain belongs to another context than the region: "
                    + domain);
        }
    }

    private int flags() {
        return (memory == null ? 0 : Rdma.IBV_REREG_MR_CHANGE_TRANSLATION())
                | (domain == null ? 0 : Rdma.IBV_REREG_MR_CHANGE_PD())
                | (access == null ? 0 : Rdma.IBV_REREG_MR_CHANGE_ACCESS());
    }
}
