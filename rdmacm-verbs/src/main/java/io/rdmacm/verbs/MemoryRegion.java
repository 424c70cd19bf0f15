// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.ReregistrationException;
import io.rdmacm.verbs.internal.ffi.EntryLength;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * A memory region: memory that the device may access directly, identified by a local and a remote key
 * ({@code struct ibv_mr}, ibv_reg_mr(3)). There are several kinds:
 * <ul>
 * <li>A region that owns its memory ({@link ProtectionDomain#allocate}); {@link #close()} frees the memory too.
 * <li>A region over memory of the caller ({@link ProtectionDomain#register(MemorySegment, AccessFlag...)}), which the
 * caller must keep valid until the region is closed.
 * <li>A region of memory that this process cannot access through it: that of a device ({@link DeviceMemory}, dma-buf),
 * or of another process (imported).
 * <li>A part of an {@link ImplicitMemoryRegion}.
 * </ul>
 *
 * <p>All methods are thread-safe. Accesses to the content of the memory are not synchronized with the device: a program
 * must wait for the completion of a work request before it reads what the device has written, or overwrites what the
 * device is still reading.
 *
 * <p>After {@link #close()}, accessing the segment of an allocated region throws {@link IllegalStateException}. Work
 * requests that are still outstanding for a closed region complete with an error.
 */
public final class MemoryRegion extends NativeObject {
    private static final NativeFunction DEREG_MR = NativeFunction.of("ibv_dereg_mr");
    private static final NativeFunction UNIMPORT_MR = NativeFunction.of("ibv_unimport_mr");

    // What the region was first registered for, and whether that still holds. Setting the data of a request reads this:
    // with many regions, each object more is a cache miss.
    private final long firstStart;
    private final long firstLength;
    private final int firstLocalKey;
    private volatile boolean isAsFirst;
    private final Backing backing;
    private final Origin origin;
    private volatile Registration now;
    // a reregistration failed halfway: what the device makes of the region is not known
    private volatile boolean broken;

    /** How the region came about, which decides how it ends. */
    enum Origin {
        /** Registered by this object. */
        REGISTERED,
        /** Imported; registered by another context. */
        IMPORTED,
        /** A part of an {@link ImplicitMemoryRegion}. */
        PART;

        void free(long region) throws RdmaException {
            switch (this) {
                case REGISTERED -> DEREG_MR.free(region);
                case IMPORTED -> UNIMPORT_MR.callInt(region);
                case PART -> { }
            }
        }
    }

    /**
     * Keeps the memory of a region as long as the device can reach it, even if the program has lost the region.
     *
     * @param owned the arena that is closed then; null unless the region owns its memory
     * @param memory what is or may be registered
     */
    record Backing(@Nullable Arena owned, List<MemorySegment> memory) implements Runnable {
        static Backing of(@Nullable Arena owned, @Nullable MemorySegment memory) {
            List<MemorySegment> all = new ArrayList<>(1);
            if (memory != null) {
                all.add(memory);
            }
            return new Backing(owned, all);
        }

        /** Fails while another thread is inside a method of the JDK with the memory; a close can then be repeated. */
        @Override
        public void run() {
            if (owned != null) {
                owned.close();
            }
        }
    }

    /**
     * Creates the object for a region that was just registered.
     *
     * @param life a lifetime below that of the protection domain
     * @param address the address of the C object
     * @param registration what the region is registered for
     * @param backing keeps its memory
     * @param origin how the region came about
     */
    MemoryRegion(Lifetime life, long address, Registration registration, Backing backing, Origin origin) {
        super(life, address, ibv_mr.sizeof());
        this.firstStart = registration.start();
        this.firstLength = registration.length();
        this.firstLocalKey = registration.localKey();
        this.backing = backing;
        this.origin = origin;
        become(registration);
        isAsFirst = true;
    }

    /**
     * Returns the memory of the region.
     *
     * @return the segment that was allocated or registered
     * @throws IllegalStateException if the region is closed, or this process cannot access its memory through it:
     *         memory of a device or of another process, or a null region
     */
    public MemorySegment memory() {
        MemorySegment memory = usable().memory();
        if (memory == null) {
            throw new IllegalStateException(this + " has no memory that this process can access through it");
        }
        return memory;
    }

    /** {@return the protection domain that the region belongs to} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return now.domain();
    }

    /** {@return what the region may be used for} Empty for an imported region, whose access flags are not known. */
    public Set<AccessFlag> access() {
        return usable().access();
    }

    /**
     * Returns the address of the first byte of the region, as used in work requests of a peer.
     *
     * @return the address of the memory, or the one that was given to {@link ProtectionDomain#registerAt}, or 0 with
     *         {@link AccessFlag#ZERO_BASED}
     */
    public long remoteAddress() {
        return usable().start();
    }

    /** {@return the length in bytes; for an imported region as reported by the driver, 0 if it is not known} */
    public long length() {
        return usable().length();
    }

    /** {@return the key for work requests of this side ({@code lkey}), an unsigned number} */
    public int localKey() {
        return usable().localKey();
    }

    /** {@return the key for work requests of a peer ({@code rkey}), an unsigned number} */
    public int remoteKey() {
        return usable().remoteKey();
    }

    /** {@return what a peer needs to access the region: address, remote key and length, to be sent to the peer} */
    public RemoteMemory remoteMemory() {
        Registration registration = usable();
        return new RemoteMemory(registration.start(), registration.remoteKey(), registration.length());
    }

    /**
     * Returns whether the device is known to have no write access; false for an imported or a null region, where that
     * is not known.
     */
    boolean isReadOnlyForDevice() {
        Registration registration = now;
        return origin != Origin.IMPORTED && registration.memory() != null
                && !registration.access().contains(AccessFlag.LOCAL_WRITE);
    }

    /**
     * {@return the kernel's handle of this region, for {@link ProtectionDomain#importRegion} ({@code ibv_mr.handle})}
     */
    public int kernelHandle() {
        return intMember(ibv_mr.handle$offset());
    }

    /**
     * Changes the memory, the protection domain or the access flags of the region ({@code ibv_rereg_mr},
     * ibv_rereg_mr(3)). The keys may change. No work requests that use the region should be outstanding: they complete
     * with an error, or still use the old memory. Memory that the region was allocated with is freed only when the
     * region is closed.
     *
     * @param change what to change, at least one thing
     * @throws IllegalArgumentException if the change is empty, or names a protection domain of another context
     * @throws IllegalStateException if the region is not registered memory of this process, or is a part of an
     *         {@link ImplicitMemoryRegion}
     * @throws ReregistrationException if the change failed; its {@link ReregistrationException#outcome() outcome} says
     *         whether the region is unchanged, changed, or can only be closed
     * @throws RdmaUnsupportedException if the device does not support the change; the region is unchanged
     * @throws RdmaException always one of these two
     */
    @CFunction("ibv_rereg_mr")
    public void reregister(Reregistration change) throws RdmaException {
        life().enter();
        try {
            synchronized (this) {
                usable();
                change.apply(this);
            }
        } finally {
            life().leave();
        }
    }

    /** Returns what the region is registered for. */
    Registration now() {
        return now;
    }

    Backing backing() {
        return backing;
    }

    Origin origin() {
        return origin;
    }

    /** Records a successful reregistration. */
    void become(Registration registration) {
        isAsFirst = false;
        now = registration;
        // not the registration: it refers to the domain, and a strong reference would hide leaks from the detector
        String text = registration.toString();
        life().describe(() -> text);
    }

    /** Records a reregistration that failed and left the region in an unknown state. */
    void becomeUnusable() {
        isAsFirst = false;
        broken = true;
    }

    /** Returns the address of a part of the region for a scatter/gather entry, after checking the range. */
    long entryAddress(long offset, long bytes) {
        return addressOf(offset, EntryLength.require(bytes));
    }

    /** Returns the address of a part of the region, after checking the range. */
    long addressOf(long offset, long bytes) {
        if (isAsFirst) {
            Objects.checkFromIndexSize(offset, bytes, firstLength);
            return firstStart + offset;
        }
        return usable().addressOf(offset, bytes);
    }

    /** Returns the local key, without the checks that {@link #addressOf} has just made. */
    int localKeyUnchecked() {
        return isAsFirst ? firstLocalKey : now.localKey();
    }

    /** Returns whether the memory lasts as long as the region is open. */
    boolean ownsMemory() {
        return backing.owned != null && isAsFirst;
    }

    /**
     * Checks that the processor can read a part of the memory, and that it cannot be freed before a post is over: only
     * the close of a region of the sender's domain waits for posts.
     *
     * @param entry the index in the scatter/gather list, for messages
     * @param sender the domain of the queue pair, whose lock is held
     * @param address what {@link #addressOf} returned, possibly before the region was reregistered
     * @param bytes the length of the part
     */
    void requireReadable(int entry, ProtectionDomain sender, long address, long bytes) {
        Registration registration = now;
        MemorySegment memory = registration.memory();
        boolean readable = isOpen() && registration.allowsInline() && memory != null && memory.scope().isAlive()
                && registration.contains(address, bytes);
        if (!readable || registration.domain() != sender) {
            requireReadable(entry, sender, registration, readable);
        }
    }

    private void requireReadable(int entry, ProtectionDomain sender, Registration registration, boolean readable) {
        if (!registration.domain().sharesPosts(sender)) {
            throw new IllegalArgumentException("entry " + entry + " of the scatter/gather list is inline data in a"
                    + " region of another protection domain than the queue pair: " + this);
        }
        if (!readable) {
            boolean isMapped = registration.memory() != null && registration.memory().isMapped();
            throw new IllegalStateException("entry " + entry + " of the scatter/gather list names a "
                    + (isOpen() ? "memory region that the processor cannot read inline data from"
                            + (isMapped ? ", because somebody may truncate the file that is mapped there: "
                            : ": ") : "closed memory region: ") + this);
        }
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        // nobody waits; but from now on users of the region must see that it is closed
        isAsFirst = false;
    }

    /** @hidden */
    @Override
    @CFunction({"ibv_dereg_mr", "ibv_unimport_mr"})
    protected void destroy() throws RdmaException {
        // A post with inline data makes the processor read the memory, so posts in progress must return before it is
        // freed. Later posts see that the region is closed.
        now.domain().posts().await();
        super.destroy();
    }

    /** Returns what the region is registered for, after checking that it can be used. */
    Registration usable() {
        life().ensureOpen();
        if (broken) {
            throw new IllegalStateException(this + " can only be closed: a reregistration of it failed halfway");
        }
        return now;
    }
}
