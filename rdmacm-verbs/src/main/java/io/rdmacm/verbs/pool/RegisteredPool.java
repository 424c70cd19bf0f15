// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.NativeMemory;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.metrics.MetricSource;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * A pool of registered memory: slices of one size, for the buffers of messages. Registering memory takes a call to the
 * kernel and pins pages, so the pool registers slabs of many slices and hands those out. {@link #take()} and
 * {@link RegisteredSlice#close()} cost nanoseconds and wait for nobody while a slice is free.
 *
 * <p>When none is free, {@code take} registers another slab, with twice as many slices as the last one up to a maximum.
 * Slabs are deregistered only when the pool is closed, so the pool keeps as much memory as was in use at once. A limit
 * in bytes can be set with {@link Builder#maxBytes}.
 *
 * <p>All methods may be called from any thread. A slice is never given to two users at once, whatever a program does:
 * closing it twice, or from two threads, gives it back once. With leak detection on (the system property
 * {@code io.rdmacm.leakDetection}), a slice that is lost without a close is logged with the place of its take; its
 * memory is not given out again, because the device may still use it.
 *
 * <p>The memory remains readable after the pool is closed, as long as the program keeps a segment of it.
 */
public final class RegisteredPool implements MetricSource, AutoCloseable {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    // for a thread that needs a slice while another one registers a slab: a slice may be given back earlier
    private static final long PAUSE_NANOS = 20_000;

    private final ProtectionDomain domain;
    private final Lifetime life;
    private final int sliceSize;
    private final AccessFlag[] access;
    private final int maxSlab;
    private final long maxBytes;
    private final FreeList slices = new FreeList();
    private final MixedThreadsLock growing = new MixedThreadsLock();
    // guarded by growing
    private final List<MemoryRegion> slabs = new ArrayList<>();
    private int nextSlab;

    private RegisteredPool(Builder builder, Lifetime life) throws RdmaException {
        this.domain = builder.domain;
        this.life = life;
        this.sliceSize = builder.sliceSize;
        this.access = builder.access.toArray(AccessFlag[]::new);
        this.maxBytes = builder.maxBytes;
        this.maxSlab = builder.largestSlab();
        this.nextSlab = builder.smallestSlab();
        try (Parts parts = new Parts()) {
            parts.add(this, RegisteredPool::deregister, life);
            slices.push(grow());
            LeakDetector.watch(this, life);
            parts.complete(this);
        }
    }

    /**
     * Creates a pool with the defaults of the {@link Builder}.
     *
     * @param domain the protection domain of the queues that use the memory; cannot be closed before the pool
     * @param sliceSize the size of each slice in bytes, at least 1; rounded up to a multiple of 64
     * @return the new pool
     * @throws IllegalArgumentException if the size is not positive, or too large
     * @throws IllegalStateException if the domain is closed
     * @throws RdmaException ENOMEM if the limit of locked memory is reached
     */
    public static RegisteredPool create(ProtectionDomain domain, int sliceSize) throws RdmaException {
        return builder(domain).sliceSize(sliceSize).build();
    }

    /**
     * Returns a builder for pools.
     *
     * @param domain the protection domain of the queues that use the memory; cannot be closed before the pool
     * @return the builder
     */
    public static Builder builder(ProtectionDomain domain) {
        return new Builder(domain);
    }

    /**
     * Takes a slice. If none is free, registers more memory, or takes what another thread gives back meanwhile.
     *
     * @return a slice, to be closed; its memory holds whatever its last user left in it
     * @throws IllegalStateException if the pool is closed
     * @throws RdmaException ENOMEM if no slice is free and the limit of the pool, of locked memory, or of native memory
     *         of the JVM is reached; or as for {@link ProtectionDomain#register(MemorySegment, AccessFlag...)}
     */
    public RegisteredSlice take() throws RdmaException {
        Slot slot = slices.pop();
        return (slot == null ? takeOrGrow() : slot).take();
    }

    /**
     * Takes a slice if one is free; never registers memory.
     *
     * @return a slice, to be closed; null if none is free
     * @throws IllegalStateException if the pool is closed
     */
    public @Nullable RegisteredSlice tryTake() {
        Slot slot = slices.pop();
        return slot == null ? null : slot.take();
    }

    private Slot takeOrGrow() throws RdmaException {
        boolean interrupted = false;
        try {
            while (!growing.tryLock()) {
                Slot slot = slices.pop();
                if (slot != null) {
                    return slot;
                }
                // an interrupted thread would not be parked
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            try {
                Slot slot = slices.pop();
                return slot == null ? grow() : slot;
            } finally {
                growing.unlock();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Registers a slab and returns its first slice. Called with the lock held. */
    private Slot grow() throws RdmaException {
        int most = (int) Math.min(maxBytes / sliceSize, FreeList.MOST);
        int count = Math.min(nextSlab, most - slices.size());
        if (count == 0) {
            throw Failures.of("RegisteredPool.take", Rdma.ENOMEM(), "all slices are taken, and the limit of " + most
                    + " slices of " + sliceSize + " bytes is reached");
        }
        try (Parts parts = new Parts()) {
            MemoryRegion slab = register(count);
            parts.add(slab, MemoryRegion::close, VERBS.lifeOf(slab));
            parts.add(slab, this::forget);
            slabs.add(slab);
            // so that the region cannot be closed by a program that got it from a slice
            life.addParent(VERBS.lifeOf(slab));
            describe(slices.size() * (long) sliceSize + slab.length());
            nextSlab = (int) Math.min(maxSlab, slab.length() / sliceSize * 2);
            return parts.complete(slices.add(slab, slab.memory(), sliceSize));
        }
    }

    private void forget(MemoryRegion slab) {
        slabs.remove(slab);
        life.removeParent(VERBS.lifeOf(slab));
    }

    /** Registers as many slices as the limit of locked memory permits, up to a number. */
    private MemoryRegion register(int count) throws RdmaException {
        nextSlab = count;
        while (true) {
            // lives as long as it can be reached: slices may be read whenever a program likes to
            MemorySegment memory = NativeMemory.allocatePages("RegisteredPool.take", Arena.ofAuto(),
                    (long) nextSlab * sliceSize);
            try {
                return domain.register(memory, access);
            } catch (RdmaException e) {
                if (e.errno() != Rdma.ENOMEM() || nextSlab == 1) {
                    throw e;
                }
                nextSlab /= 2;
            }
        }
    }

    private void describe(long bytes) {
        // not from the list: it refers to the regions, and a strong reference would hide leaks from the detector
        String text = "slices of " + sliceSize + " bytes, " + bytes + " bytes registered";
        life.describe(() -> text);
    }

    /** {@return the size of each slice in bytes, a multiple of 64} */
    public int sliceSize() {
        ensureOpen();
        return sliceSize;
    }

    /** {@return the protection domain that the memory is registered with} */
    public ProtectionDomain protectionDomain() {
        ensureOpen();
        return domain;
    }

    /** {@return the number of bytes that are registered, in free and in taken slices} */
    public long registeredBytes() {
        ensureOpen();
        return (long) slices.size() * sliceSize;
    }

    /** {@return the number of slices that are taken} Approximate while other threads take and give back. */
    public int taken() {
        int all = slices.size();
        return Math.max(0, all - slices.free());
    }

    /** {@return the number of slices that are free} Approximate while other threads take and give back. */
    public int free() {
        return slices.free();
    }

    /** {@return the bytes that are registered, and the slices that are taken and free; zeros after the close} */
    @Override
    public Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        int all = 0;
        int free = 0;
        try {
            free = free();
            all = slices.size();
        } catch (IllegalStateException e) {
            // The pool is closed.
        }
        metrics.put("registeredBytes", (long) all * sliceSize);
        metrics.put("taken", (long) Math.max(0, all - free));
        metrics.put("free", (long) free);
        return metrics;
    }

    /** {@return whether the pool is open} Never throws. */
    public boolean isOpen() {
        return !slices.hasEnded();
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new IllegalStateException("RegisteredPool is closed");
        }
    }

    /**
     * Deregisters the memory. Has no effect if the pool is closed already.
     *
     * @throws IllegalStateException if slices are taken, or a memory window is bound to the memory; nothing has been
     *         changed
     * @throws RdmaException if the C library fails to deregister memory; the pool gives out no more slices, and
     *         {@code close} can be called again
     */
    @Override
    public void close() throws RdmaException {
        growing.lock();
        try {
            for (MemoryRegion slab : slabs) {
                refuseWhileUsed(slab);
            }
            int missing = slices.end();
            if (missing > 0) {
                throw new IllegalStateException(life + " cannot be closed while " + missing + " of its "
                        + slices.size() + " slices are taken, close them first");
            }
            life.close(() -> { }, this::deregister);
        } finally {
            growing.unlock();
        }
    }

    private void refuseWhileUsed(MemoryRegion slab) {
        List<Lifetime> users = VERBS.lifeOf(slab).children().stream().filter(child -> child != life).toList();
        if (!users.isEmpty()) {
            throw new IllegalStateException(life + " cannot be closed while its memory is used, close these first: "
                    + Lifetime.named(users));
        }
    }

    private void deregister() throws RdmaException {
        while (!slabs.isEmpty()) {
            MemoryRegion slab = slabs.getLast();
            try (Parts parts = new Parts()) {
                life.removeParent(VERBS.lifeOf(slab));
                // again, if it stays
                parts.add(VERBS.lifeOf(slab), life::addParent);
                slab.close();
                parts.complete(slab);
            }
            slabs.removeLast();
        }
    }

    @Override
    public String toString() {
        return life + (isOpen() ? "" : " (closed)");
    }

    /** Builds a {@link RegisteredPool}. */
    public static final class Builder {
        private static final int ALIGNMENT = 64;
        private static final int LARGEST_SLICE = Integer.MAX_VALUE / ALIGNMENT * ALIGNMENT;
        private static final int FIRST_BYTES = 1 << 18;
        private static final int MAX_BYTES = 1 << 24;
        private static final int DEFAULT_SLICE = 4096;

        private final ProtectionDomain domain;
        private int sliceSize = DEFAULT_SLICE;
        private Set<AccessFlag> access = Set.of(AccessFlag.LOCAL_WRITE);
        // 0 for the default
        private int firstSlab;
        private int maxSlab;
        private long maxBytes = Long.MAX_VALUE;

        private Builder(ProtectionDomain domain) {
            this.domain = Objects.requireNonNull(domain, "domain");
        }

        /**
         * Sets the size of each slice.
         *
         * @param bytes the size, at least 1 and at most 2147483584; rounded up to a multiple of 64. 4096 by default
         * @return this builder
         * @throws IllegalArgumentException if the size is out of range
         */
        public Builder sliceSize(int bytes) {
            if (bytes < 1 || bytes > LARGEST_SLICE) {
                throw new IllegalArgumentException("a slice has 1 to " + LARGEST_SLICE + " bytes, not " + bytes);
            }
            sliceSize = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            return this;
        }

        /**
         * Sets what the memory may be used for. Peers that have the key of one slice can reach its whole slab.
         *
         * @param flags the access flags, which replace all others; {@link AccessFlag#LOCAL_WRITE} by default
         * @return this builder
         */
        public Builder access(AccessFlag... flags) {
            access = Set.copyOf(Arrays.asList(flags));
            return this;
        }

        /**
         * Sets the size of the first slab, which is registered when the pool is built. By default as many slices as
         * make 256 KiB, at least 1, and no more than the limits of the pool.
         *
         * @param count the number of slices, from 1 to 16777214
         * @return this builder
         * @throws IllegalArgumentException if the number is out of range
         */
        public Builder firstSlab(int count) {
            firstSlab = requireCount(count);
            return this;
        }

        /**
         * Sets the size of the largest slab. By default as many slices as make 16 MiB, at least as many as in the first
         * slab.
         *
         * @param count the number of slices, from 1 to 16777214
         * @return this builder
         * @throws IllegalArgumentException if the number is out of range
         */
        public Builder maxSlab(int count) {
            maxSlab = requireCount(count);
            return this;
        }

        /**
         * Sets the limit of the pool. Without one, it grows up to 16777214 slices, or to the limits of the system.
         *
         * @param bytes the most bytes to register, at least one slice
         * @return this builder
         * @throws IllegalArgumentException if the limit is not positive
         */
        public Builder maxBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("the limit of a pool must be positive, not " + bytes);
            }
            maxBytes = bytes;
            return this;
        }

        /**
         * Creates the pool and registers its first slab; fewer slices, if the limit of locked memory requires it.
         *
         * @return the new pool
         * @throws IllegalArgumentException if the first slab exceeds the largest one or the limit, the limit is less
         *         than a slice, or the access flags need {@link AccessFlag#LOCAL_WRITE} and lack it
         * @throws IllegalStateException if the domain is closed
         * @throws RdmaUnsupportedException with {@link AccessFlag#ON_DEMAND} if the device does not support on-demand
         *         paging
         * @throws RdmaException ENOMEM if the limit of locked memory is reached; EINVAL if the device refuses the
         *         access flags
         */
        public RegisteredPool build() throws RdmaException {
            if (smallestSlab() > largestSlab()) {
                throw new IllegalArgumentException("the first slab of " + firstSlab + " slices is larger than the"
                        + " largest slab of " + maxSlab);
            }
            if (smallestSlab() > maxBytes / sliceSize) {
                throw new IllegalArgumentException("the limit of " + maxBytes + " bytes is less than " + smallestSlab()
                        + " slices of " + sliceSize + " bytes");
            }
            return Lifetime.make(RegisteredPool.class, List.of(VERBS.lifeOf(domain)),
                    (life, none) -> new RegisteredPool(this, life));
        }

        private int smallestSlab() {
            long most = Math.min(maxBytes / sliceSize, maxSlab == 0 ? FreeList.MOST : maxSlab);
            return firstSlab > 0 ? firstSlab : (int) Math.max(1, Math.min(most, FIRST_BYTES / sliceSize));
        }

        private int largestSlab() {
            return maxSlab > 0 ? maxSlab : Math.max(smallestSlab(), MAX_BYTES / sliceSize);
        }

        private static int requireCount(int count) {
            if (count < 1 || count > FreeList.MOST) {
                throw new IllegalArgumentException("a slab has 1 to " + FreeList.MOST + " slices, not " + count);
            }
            return count;
        }
    }
}
