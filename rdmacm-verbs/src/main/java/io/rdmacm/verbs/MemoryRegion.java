// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.ReregistrationException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory that a device may use directly ({@code struct ibv_mr}, ibv_reg_mr(3)): pinned, and named by a local and a
 * remote key. Either it owns its memory ({@link ProtectionDomain#allocate}), which then ends with {@link #close()}; or
 * it refers to memory of the caller's ({@link ProtectionDomain#register}), of a device ({@link DeviceMemory}, dma-buf)
 * or of another process (imported); or it is a part of an {@link ImplicitMemoryRegion}.
 *
 * <p>All methods are safe for use by several threads; what is in the memory is for the program to order. After
 * {@link #close()} the segment of an allocated region throws IllegalStateException when it is accessed. Work that is
 * still posted for a closed region completes with an error.
 */
public final class MemoryRegion extends NativeObject {
    private static final NativeFunction DEREG_MR = NativeFunction.of("ibv_dereg_mr");
    private static final NativeFunction UNIMPORT_MR = NativeFunction.of("ibv_unimport_mr");

    // null when the memory is not this object's
    private final Arena owned;
    private final Origin origin;
    private volatile Registration now;
    // a change failed half-way: the device's view of the region is not known
    private volatile boolean broken;
    private boolean deregistered;

    /** Where it comes from, which says how it ends. */
    enum Origin {
        /** Registered by this object. */
        REGISTERED,
        /** Made by another context. */
        IMPORTED,
        /** A part of an {@link ImplicitMemoryRegion}. */
        PART
    }

    /**
     * A region that was just made.
     *
     * @param life begun under the protection domain
     * @param address of the C object
     * @param registration what it is
     * @param owned the arena that ends with it; null when the memory is not its own
     * @param origin where it comes from
     */
    MemoryRegion(Lifetime life, long address, Registration registration, Arena owned, Origin origin) {
        super(life, address, ibv_mr.sizeof());
        this.owned = owned;
        this.origin = origin;
        become(registration);
    }

    /**
     * The memory.
     *
     * @throws IllegalStateException also when the processor cannot reach it by this object: memory of a device, of
     *         another process, or none
     */
    public MemorySegment memory() {
        MemorySegment memory = usable().memory();
        if (memory == null) {
            throw new IllegalStateException(this + " has no memory that the processor reaches by it");
        }
        return memory;
    }

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return now.domain();
    }

    /** What it may be used for. */
    public Set<AccessFlag> access() {
        return usable().access();
    }

    /**
     * The address of its first byte, by which a peer names it: that of the memory, or what it was registered with
     * ({@link ProtectionDomain#registerAt}), or 0 with {@link AccessFlag#ZERO_BASED}.
     */
    public long remoteAddress() {
        return usable().start();
    }

    /** Its length in bytes; of an imported region what its maker told, 0 when that is not known. */
    public long length() {
        return usable().length();
    }

    /** The key for work requests of this side ({@code lkey}); an unsigned number. */
    public int localKey() {
        return usable().localKey();
    }

    /** The key for work requests of a peer ({@code rkey}); an unsigned number. */
    public int remoteKey() {
        return usable().remoteKey();
    }

    /** Whether it is known that the device may not write to it; of an imported or a null region that is not known. */
    boolean isReadOnlyForDevice() {
        Registration registration = now;
        return origin != Origin.IMPORTED && registration.memory() != null
                && !registration.access().contains(AccessFlag.LOCAL_WRITE);
    }

    /** The kernel's number of it, for {@link ProtectionDomain#importRegion} ({@code ibv_mr.handle}). */
    public int kernelHandle() {
        return intMember(ibv_mr.handle$offset());
    }

    /**
     * Changes the memory, the protection domain or the access of the region ({@code ibv_rereg_mr}, ibv_rereg_mr(3)).
     * The keys may become others. Work that is posted for the old ones completes with an error, or uses the old memory
     * until then: nothing should be posted. Memory that the region was allocated with lives on until its close.
     *
     * @param change at least one change
     * @throws IllegalStateException when it is not registered memory of this process, or part of an
     *         {@link ImplicitMemoryRegion}
     * @throws ReregistrationException tells whether the region is as before, as wanted, or can only be closed
     * @throws RdmaUnsupportedException when the device cannot do it; the region is as before
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

    /** What it is registered for. */
    Registration now() {
        return now;
    }

    Origin origin() {
        return origin;
    }

    /** A change succeeded. */
    void become(Registration registration) {
        now = registration;
        // not the registration itself: it leads to the domain, and a life must not keep lost objects alive
        String text = registration.toString();
        life().describe(() -> text);
    }

    /** A change failed so that nothing is known. */
    void becomeUnusable() {
        broken = true;
    }

    /** The address of a part of it, checked: for the scatter lists of work requests. */
    long addressOf(long offset, long bytes) {
        Registration registration = usable();
        Objects.checkFromIndexSize(offset, bytes, registration.length());
        return registration.start() + offset;
    }

    /** The local key, for a region that {@link #addressOf} was just asked for. */
    int localKeyUnchecked() {
        return now.localKey();
    }

    /** Whether its bytes can be read by the processor right now, at the address of {@link #addressOf}. */
    boolean isReadable() {
        Registration registration = now;
        return life().isOpen() && registration.isIdentity() && registration.memory().scope().isAlive();
    }

    @Override
    @CFunction({"ibv_dereg_mr", "ibv_unimport_mr"})
    protected void destroy() throws RdmaException {
        // A post of inline data reads the memory itself: it must be out before the memory goes. Later ones see that
        // the region is closed.
        now.domain().awaitPosts();
        if (!deregistered) {
            switch (origin) {
                case REGISTERED -> Check.returned(DEREG_MR, DEREG_MR.callInt(address()));
                case IMPORTED -> UNIMPORT_MR.callInt(address());
                case PART -> { }
            }
            deregistered = true;
        }
        // Refused while another thread is inside a call of the JDK with this memory: then close() can be called again.
        if (owned != null) {
            owned.close();
        }
    }

    private Registration usable() {
        life().ensureOpen();
        if (broken) {
            throw new IllegalStateException(this + " can only be closed: a change of it failed half-way");
        }
        return now;
    }
}
