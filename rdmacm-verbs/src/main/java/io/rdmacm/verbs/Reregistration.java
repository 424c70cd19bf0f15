// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.ReregistrationException;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * A change for {@link MemoryRegion#reregister} ({@code enum ibv_rereg_mr_flags}, ibv_rereg_mr(3)). What is not set
 * stays as it is. Immutable.
 */
public final class Reregistration {
    private static final NativeFunction REREG_MR = NativeFunction.of("ibv_rereg_mr");

    private final @Nullable MemorySegment memory;
    private final @Nullable ProtectionDomain domain;
    private final @Nullable Set<AccessFlag> access;

    private Reregistration(Builder builder) {
        this.memory = builder.memory;
        this.domain = builder.domain;
        this.access = builder.access;
    }

    /** {@return a builder with nothing set yet} */
    public static Builder builder() {
        return new Builder();
    }

    /** Applies the change. The caller holds the region's lock and has entered its lifetime. */
    void apply(MemoryRegion region) throws RdmaException {
        Registration old = region.now();
        check(region, old);
        ProtectionDomain newDomain = domain == null ? old.domain() : domain;
        Set<AccessFlag> newAccess = access == null ? old.access() : access;
        MemorySegment newMemory = memory == null ? Objects.requireNonNull(old.memory())
                : MemoryRegionFactory.checkMemory(memory, newAccess);
        boolean moves = newDomain != old.domain();
        ReregistrationException.Outcome outcome = ReregistrationException.Outcome.UNCHANGED;
        // whether nothing uses any more what the region does not have afterwards
        boolean settled = true;
        try {
            // Until the outcome is known, the memory may not be given back, nor may a domain be closed.
            region.backing().memory().add(newMemory);
            if (moves) {
                region.life().addParent(newDomain.life());
            }
            int result = REREG_MR.callInt(region.address(), flags(), domain == null ? 0 : domain.address(),
                    memory == null ? 0 : memory.address(), memory == null ? 0 : memory.byteSize(),
                    access == null ? 0 : Flags.mask(access, AccessFlag::bit));
            int error = result == 0 ? 0 : Errno.last();
            outcome = outcome(result, error);
            if (outcome != ReregistrationException.Outcome.UNCHANGED) {
                settled = false;
                if (outcome == ReregistrationException.Outcome.CHANGED) {
                    region.become(Registration.of(region.address(), newDomain, newMemory, newAccess,
                            memory == null ? old.start() : memory.address(), newMemory.byteSize()));
                } else {
                    region.becomeUnusable();
                }
                // The caller may free the old memory as soon as this method returns.
                old.domain().posts().await();
                settled = outcome == ReregistrationException.Outcome.CHANGED;
            }
            if (result != 0) {
                throw failure(result, error, outcome);
            }
        } finally {
            if (settled) {
                boolean changed = outcome == ReregistrationException.Outcome.CHANGED;
                region.backing().memory().remove(changed ? old.memory() : newMemory);
                if (moves) {
                    region.life().removeParent((changed ? old.domain() : newDomain).life());
                }
            } else {
                region.becomeUnusable();
            }
        }
    }

    private void check(MemoryRegion region, Registration old) {
        if (region.origin() == MemoryRegion.Origin.PART) {
            throw new IllegalStateException(region + " is part of an implicit region and cannot be reregistered");
        }
        if (old.memory() == null) {
            throw new IllegalStateException(region + " is not memory of this process and cannot be reregistered");
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

    /** Translates the result of the call ({@code enum ibv_rereg_mr_err_code}) into the state of the region after it. */
    private static ReregistrationException.Outcome outcome(int result, int errno) {
        if (result == 0 || result == Rdma.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
            return ReregistrationException.Outcome.CHANGED;
        }
        // A device without the command has changed nothing.
        if (result == Rdma.IBV_REREG_MR_ERR_INPUT() || result == Rdma.IBV_REREG_MR_ERR_DONT_FORK_NEW()
                || Failures.isUnsupported(errno)) {
            return ReregistrationException.Outcome.UNCHANGED;
        }
        return ReregistrationException.Outcome.UNUSABLE;
    }

    private static RdmaException failure(int result, int errno, ReregistrationException.Outcome outcome) {
        String function = REREG_MR.name();
        return Failures.isUnsupported(errno) ? Failures.of(function, errno, outcome.text())
                : new ReregistrationException(errno, Errno.name(errno),
                        Failures.message(function, errno, code(result) + ", " + outcome.text()), outcome);
    }

    private static String code(int result) {
        String[] codes = {"IBV_REREG_MR_ERR_INPUT", "IBV_REREG_MR_ERR_DONT_FORK_NEW", "IBV_REREG_MR_ERR_DO_FORK_OLD",
                "IBV_REREG_MR_ERR_CMD", "IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW"};
        int index = -result - 1;
        return index >= 0 && index < codes.length ? codes[index] : Integer.toString(result);
    }

    /** Builds a {@link Reregistration}. */
    public static final class Builder {
        private @Nullable MemorySegment memory;
        private @Nullable ProtectionDomain domain;
        private @Nullable Set<AccessFlag> access;

        private Builder() {
        }

        /**
         * Sets new memory of the caller, which the region then has under its own address
         * ({@code IBV_REREG_MR_CHANGE_TRANSLATION}).
         *
         * @param other native memory, not empty; the caller must keep it valid until the region is closed
         * @return this builder
         * @throws IllegalArgumentException for memory of the Java heap, empty memory, or memory of a closed arena
         */
        public Builder memory(MemorySegment other) {
            memory = MemoryRegionFactory.checkMemory(other, Set.of());
            return this;
        }

        /**
         * Sets a new protection domain ({@code IBV_REREG_MR_CHANGE_PD}).
         *
         * @param other another protection domain of the same context
         * @return this builder
         * @throws IllegalStateException if the domain is closed
         */
        public Builder protectionDomain(ProtectionDomain other) {
            other.life().ensureOpen();
            domain = other;
            return this;
        }

        /**
         * Sets new access flags ({@code IBV_REREG_MR_CHANGE_ACCESS}).
         *
         * @param other what the memory may be used for; replaces the old flags
         * @return this builder
         * @throws IllegalArgumentException if the access flags need {@link AccessFlag#LOCAL_WRITE} and lack it
         */
        public Builder access(AccessFlag... other) {
            access = MemoryRegionFactory.checkAccess(Set.copyOf(Arrays.asList(other)));
            return this;
        }

        /**
         * Returns the change.
         *
         * @return the change
         * @throws IllegalArgumentException if nothing is set
         */
        public Reregistration build() {
            if (memory == null && domain == null && access == null) {
                throw new IllegalArgumentException("nothing to change: call memory, protectionDomain or access");
            }
            return new Reregistration(this);
        }
    }
}
