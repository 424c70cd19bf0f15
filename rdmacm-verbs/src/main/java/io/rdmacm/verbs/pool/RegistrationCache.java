// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registrations of memory that somebody else allocates, such as the buffers of another library. Registering memory
 * takes a call to the kernel and pins its pages, so the cache keeps a region after its use, for the next one who wants
 * to transfer the same memory or a part of it.
 *
 * <pre>{@code
 * try (CachedRegistration cached = cache.register(memory)) {
 *     connection.send(cached.region(), cached.offset(), cached.length(), TIMEOUT);
 * }
 * }</pre>
 *
 * <p>It keeps {@link Builder#maxEntries} regions with {@link Builder#maxBytes} bytes at most, and deregisters those
 * whose last use is the longest ago; never one that is in use, until its last {@link CachedRegistration} is closed.
 *
 * <h2>Memory that is freed</h2>
 *
 * <p>A region belongs to the {@linkplain MemorySegment#scope() scope} of its memory. When the arena is closed, the
 * region is not used again, even for memory at the same address, and is deregistered with the next one that is
 * registered, at the end of its use, by {@link #trim()} or by {@link #close()}, whichever is first. Until then its
 * pages stay pinned. Memory of an automatic arena, and that of a direct buffer, stays reachable as long as its region
 * is kept. The global scope never ends: memory of it that C frees or maps anew has to be {@linkplain #forget forgotten}
 * before.
 *
 * <p>All methods may be called from any thread. A registration holds up nobody who finds a region.
 */
public final class RegistrationCache implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RegistrationCache.class);
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final String REGISTER = "RegistrationCache.register";

    private final ProtectionDomain domain;
    private final Lifetime life;
    private final AccessFlag[] access;
    private final int maxEntries;
    private final long maxBytes;
    // Everything below is guarded by this.
    // what can be found, by its address; no entry contains another one of its scope
    private final Map<MemorySegment.Scope, NavigableMap<Long, Entry>> found = new HashMap<>();
    // what nobody uses, that whose last use is the longest ago first
    private final LinkedHashSet<Entry> idle = new LinkedHashSet<>();
    // of all regions, and of those that are being registered
    private int count;
    private long bytes;

    private RegistrationCache(Builder builder, Lifetime life) {
        this.domain = builder.domain;
        this.life = life;
        this.access = builder.access.toArray(AccessFlag[]::new);
        this.maxEntries = builder.maxEntries;
        this.maxBytes = builder.maxBytes;
        String text = "at most " + maxEntries + " regions, " + maxBytes + " bytes";
        life.describe(() -> text);
        LeakDetector.watch(this, life);
    }

    /** A region, and how many use it. */
    static final class Entry {
        private final MemoryRegion region;
        private final MemorySegment memory;
        private int users = 1;
        // not to be found any more
        private boolean dropped;

        Entry(MemoryRegion region, MemorySegment memory) {
            this.region = region;
            this.memory = memory;
        }

        MemoryRegion region() {
            return region;
        }

        private boolean contains(MemorySegment other) {
            return memory.address() <= other.address() && end(other) <= end(memory);
        }

        private boolean overlaps(MemorySegment other) {
            return memory.address() < end(other) && other.address() < end(memory);
        }

        private static long end(MemorySegment memory) {
            return memory.address() + memory.byteSize();
        }
    }

    /**
     * Returns a builder for caches.
     *
     * @param domain the protection domain of the queues that use the memory; cannot be closed before the cache
     * @return the builder
     */
    public static Builder builder(ProtectionDomain domain) {
        return new Builder(domain);
    }

    /**
     * Returns a region that contains some memory: one that is there, or a new one of just this memory. Whoever
     * transfers parts of one piece of memory registers the whole of it.
     *
     * @param memory native memory, not empty; must not be read-only if the access flags allow anything to write to it
     * @return the registration, to be closed when no work request uses it any more
     * @throws IllegalArgumentException for memory of the Java heap, and otherwise as for
     *         {@link ProtectionDomain#register(MemorySegment, AccessFlag...)}
     * @throws IllegalStateException if the cache is closed
     * @throws RdmaException ENOMEM if so many other regions are in use that a limit of the cache, or that of locked
     *         memory, is reached; or as for {@link ProtectionDomain#register(MemorySegment, AccessFlag...)}
     */
    public CachedRegistration register(MemorySegment memory) throws RdmaException {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory of the Java heap cannot be registered, because the garbage"
                    + " collector moves it: use an Arena");
        }
        return Lifetime.make(CachedRegistration.class, List.of(life), (use, none) -> {
            try (Parts parts = new Parts()) {
                Entry entry = find(memory);
                entry = parts.add(entry == null ? add(memory) : entry, this::release);
                return parts.complete(new CachedRegistration(this, entry, memory, use));
            }
        });
    }

    /** Returns a region that contains some memory, for one user more; null if there is none. */
    private synchronized @Nullable Entry find(MemorySegment memory) {
        Entry entry = containing(memory);
        if (entry != null) {
            entry.users++;
            idle.remove(entry);
        }
        return entry;
    }

    private @Nullable Entry containing(MemorySegment memory) {
        NavigableMap<Long, Entry> sameScope = found.get(memory.scope());
        if (sameScope == null || !memory.scope().isAlive()) {
            return null;
        }
        // Of those that begin before the memory, this one ends last.
        Map.Entry<Long, Entry> nearest = sameScope.floorEntry(memory.address());
        return nearest != null && nearest.getValue().contains(memory) ? nearest.getValue() : null;
    }

    private Entry add(MemorySegment memory) throws RdmaException {
        reserve(memory.byteSize());
        try (Parts parts = new Parts()) {
            parts.add(memory, this::unreserve);
            MemoryRegion registered = registerNow(memory);
            Lifetime region = VERBS.lifeOf(registered);
            // if it cannot be deregistered now, the close of the domain does it
            parts.add(registered, MemoryRegion::close, region);
            Entry entry = new Entry(registered, memory);
            // so that it cannot be closed by a program that got it from a use
            life.addParent(region);
            parts.add(region, life::removeParent);
            publish(entry);
            return parts.complete(entry);
        }
    }

    /** Makes room for a region. */
    private synchronized void reserve(long length) throws RdmaException {
        dropDead();
        boolean possible = length <= maxBytes;
        while (possible && !fits(length)) {
            possible = evict();
        }
        if (!possible) {
            throw Failures.of(REGISTER, Rdma.ENOMEM(), length + " bytes beside the " + bytes + " bytes of " + count
                    + " regions in use: the limit is " + maxBytes + " bytes, " + maxEntries + " regions");
        }
        count++;
        bytes += length;
    }

    private boolean fits(long length) {
        return count < maxEntries && length <= maxBytes - bytes;
    }

    /** Registers memory, if need be instead of what nobody uses. */
    private MemoryRegion registerNow(MemorySegment memory) throws RdmaException {
        while (true) {
            try {
                return domain.register(memory, access);
            } catch (RdmaException e) {
                if (e.errno() != Rdma.ENOMEM() || !evict()) {
                    throw e;
                }
            }
        }
    }

    private synchronized void unreserve(MemorySegment memory) {
        count--;
        bytes -= memory.byteSize();
    }

    /** Lets a region be found, in place of those within it; unless another thread has added a larger one. */
    private synchronized void publish(Entry entry) {
        if (containing(entry.memory) != null) {
            entry.dropped = true;
            return;
        }
        long first = entry.memory.address();
        NavigableMap<Long, Entry> sameScope = found.getOrDefault(entry.memory.scope(), Collections.emptyNavigableMap());
        sameScope.subMap(first, first + entry.memory.byteSize()).values().stream()
                .filter(other -> entry.contains(other.memory)).toList().forEach(this::drop);
        found.computeIfAbsent(entry.memory.scope(), scope -> new TreeMap<>()).put(first, entry);
    }

    /** Ends a use. */
    synchronized void release(Entry entry) {
        if (entry.users == 1) {
            // First: for want of memory it may fail, and the close is repeated.
            idle.add(entry);
        }
        entry.users--;
        if (entry.users == 0 && (entry.dropped || !entry.memory.scope().isAlive())) {
            try {
                drop(entry);
            } catch (Error e) {
                // The use has ended, and must not be ended again; what is idle is deregistered later.
            }
        }
    }

    /** Deregisters that whose last use is the longest ago. Returns false if there is nothing that can be. */
    private synchronized boolean evict() {
        int before = count;
        for (int i = idle.size(); i > 0 && count == before; i--) {
            drop(idle.iterator().next());
        }
        return count < before;
    }

    private void dropDead() {
        List<NavigableMap<Long, Entry>> dead = found.entrySet().stream().filter(scope -> !scope.getKey().isAlive())
                .map(Map.Entry::getValue).toList();
        dead.forEach(entries -> List.copyOf(entries.values()).forEach(this::drop));
    }

    /** Lets nobody find an entry any more, and deregisters it if nobody uses it: otherwise its last user does. */
    private void drop(Entry entry) {
        if (!entry.dropped) {
            found.computeIfPresent(entry.memory.scope(), (scope, entries) -> {
                entries.remove(entry.memory.address());
                return entries.isEmpty() ? null : entries;
            });
            entry.dropped = true;
        }
        if (entry.users == 0) {
            try {
                deregister(entry);
            } catch (RdmaException | IllegalStateException e) {
                LOG.debug("{} is deregistered later", entry.region, e);
                // the last one to be tried again
                idle.addLast(entry);
            }
        }
    }

    private void deregister(Entry entry) throws RdmaException {
        Lifetime region = VERBS.lifeOf(entry.region);
        try (Parts parts = new Parts()) {
            life.removeParent(region);
            // again, if it stays: a memory window may be bound to it
            parts.add(region, life::addParent);
            entry.region.close();
            parts.complete(entry);
        }
        idle.remove(entry);
        unreserve(entry.memory);
    }

    /**
     * Forgets all regions with some memory of the global scope, before it is freed: they are deregistered at once if
     * nobody uses them, and otherwise when their use ends.
     *
     * @param memory the memory; only regions of its scope are forgotten
     */
    public synchronized void forget(MemorySegment memory) {
        NavigableMap<Long, Entry> sameScope = found.get(memory.scope());
        if (sameScope != null) {
            sameScope.values().stream().filter(entry -> entry.overlaps(memory)).toList().forEach(this::drop);
        }
    }

    /** Deregisters everything that nobody uses, and forgets memory that was freed. */
    public synchronized void trim() {
        dropDead();
        List.copyOf(idle).forEach(this::drop);
    }

    /** {@return the number of regions, those that are just being registered included} */
    public synchronized int registrations() {
        return count;
    }

    /** {@return the number of bytes of these regions; what several of them contain counts several times} */
    public synchronized long registeredBytes() {
        return bytes;
    }

    /** {@return the protection domain that the memory is registered with} */
    public ProtectionDomain protectionDomain() {
        life.ensureOpen();
        return domain;
    }

    /** {@return whether the cache is open} Never throws. */
    public boolean isOpen() {
        return life.isOpen();
    }

    /**
     * Deregisters the memory. Has no effect if the cache is closed already.
     *
     * @throws IllegalStateException if a {@link CachedRegistration} is open; nothing has changed. Or if a memory window
     *         is bound to the memory; some of it may be deregistered
     * @throws RdmaException if the C library fails to deregister memory; call this again
     */
    @Override
    public void close() throws RdmaException {
        life.close(() -> { }, this::deregisterAll);
    }

    private synchronized void deregisterAll() throws RdmaException {
        found.clear();
        for (Entry entry : List.copyOf(idle)) {
            entry.dropped = true;
            deregister(entry);
        }
    }

    @Override
    public String toString() {
        return life + (isOpen() ? "" : " (closed)");
    }

    /** Builds a {@link RegistrationCache}. */
    public static final class Builder {
        private final ProtectionDomain domain;
        private Set<AccessFlag> access = Set.of(AccessFlag.LOCAL_WRITE);
        private int maxEntries = 1024;
        private long maxBytes = 1L << 30;

        private Builder(ProtectionDomain domain) {
            this.domain = Objects.requireNonNull(domain, "domain");
        }

        /**
         * Sets what the memory may be used for. With a remote flag, a peer that has the key of a region can reach all
         * of its memory until it is deregistered, which is later than the end of its use.
         *
         * @param flags the access flags, which replace all others; {@link AccessFlag#LOCAL_WRITE} by default
         * @return this builder
         */
        public Builder access(AccessFlag... flags) {
            access = Set.copyOf(Arrays.asList(flags));
            return this;
        }

        /**
         * Sets the most regions.
         *
         * @param count at least 1; 1024 by default
         * @return this builder
         * @throws IllegalArgumentException if the number is not positive
         */
        public Builder maxEntries(int count) {
            if (count < 1) {
                throw new IllegalArgumentException("a cache has at least 1 region, not " + count);
            }
            maxEntries = count;
            return this;
        }

        /**
         * Sets the most bytes of all regions together.
         *
         * @param bytes at least 1; 1 GiB by default
         * @return this builder
         * @throws IllegalArgumentException if the number is not positive
         */
        public Builder maxBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("the limit of a cache must be positive, not " + bytes);
            }
            maxBytes = bytes;
            return this;
        }

        /**
         * Creates the cache; nothing is registered yet.
         *
         * @return the new cache
         * @throws IllegalStateException if the domain is closed
         */
        public RegistrationCache build() {
            try {
                return Lifetime.make(RegistrationCache.class, List.of(VERBS.lifeOf(domain)),
                        (life, none) -> new RegistrationCache(this, life));
            } catch (RdmaException e) {
                throw new AssertionError("C is not called", e);
            }
        }
    }
}
