// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Flags;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * Memory that a device may use directly ({@code struct ibv_mr}, ibv_reg_mr(3)): pinned, and named by a local and a
 * remote key. Either it owns its memory ({@link ProtectionDomain#allocate}), which then ends with {@link #close()}; or
 * it refers to memory of the caller's ({@link ProtectionDomain#register}).
 *
 * <p>All methods are safe for use by several threads; what is in the memory is for the program to order. After
 * {@link #close()} the segment of an allocated region throws IllegalStateException when it is accessed. Work that is
 * still posted for a closed region completes with an error.
 */
public final class MemoryRegion extends NativeObject {
    private static final NativeFunction REG_MR = NativeFunction.of("ibv_reg_mr");
    private static final NativeFunction REG_MR_IOVA2 = NativeFunction.of("ibv_reg_mr_iova2");
    private static final NativeFunction DEREG_MR = NativeFunction.of("ibv_dereg_mr");
    private static final long PAGE = 4096;

    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final Set<AccessFlag> access;
    // null when the memory is the caller's
    private final Arena owned;
    private final long start;
    private final long length;
    private final int localKey;
    private final int remoteKey;
    private boolean deregistered;

    private MemoryRegion(ProtectionDomain domain, Lifetime life, long address, MemorySegment memory,
            Set<AccessFlag> access, Arena owned) {
        super(life, address, ibv_mr.sizeof());
        this.domain = domain;
        this.memory = memory;
        this.access = access;
        this.owned = owned;
        this.start = memory.address();
        this.length = memory.byteSize();
        this.localKey = Memory.getInt(address + ibv_mr.lkey$offset());
        this.remoteKey = Memory.getInt(address + ibv_mr.rkey$offset());
        long bytes = length;
        String keys = "lkey 0x" + Integer.toHexString(localKey) + ", rkey 0x" + Integer.toHexString(remoteKey);
        life.describe(() -> bytes + " bytes, " + keys);
    }

    static MemoryRegion allocate(ProtectionDomain domain, long bytes, Set<AccessFlag> access) throws RdmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("a memory region needs at least 1 byte, not " + bytes);
        }
        Arena arena = Arena.ofShared();
        boolean made = false;
        try {
            MemoryRegion region = make(domain, arena.allocate(bytes, PAGE), access, arena);
            made = true;
            return region;
        } finally {
            if (!made) {
                arena.close();
            }
        }
    }

    static MemoryRegion register(ProtectionDomain domain, MemorySegment memory, Set<AccessFlag> access)
            throws RdmaException {
        Objects.requireNonNull(memory, "memory");
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory of the Java heap cannot be registered: the garbage collector"
                    + " moves it. Allocate it from an Arena, or with ProtectionDomain.allocate");
        }
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("a memory region needs at least 1 byte: the segment is empty");
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalArgumentException("the arena of the segment is closed");
        }
        boolean written = access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.MW_BIND);
        if (memory.isReadOnly() && written) {
            throw new IllegalArgumentException("the segment is read-only, but the access flags let it be written: "
                    + access);
        }
        return make(domain, memory, access, null);
    }

    private static MemoryRegion make(ProtectionDomain domain, MemorySegment memory, Set<AccessFlag> access,
            Arena owned) throws RdmaException {
        Lifetime life = Lifetime.begin("MemoryRegion", domain.life());
        int flags = Flags.mask(access, AccessFlag::bit);
        long address = life.create(() -> registerNative(domain.address(), memory, flags));
        return new MemoryRegion(domain, life, address, memory, access, owned);
    }

    /** As the macro ibv_reg_mr does: flags that an old kernel may ignore go through the newer function. */
    private static long registerNative(long domain, MemorySegment memory, int flags) throws RdmaException {
        String detail = memory.byteSize() + " bytes";
        long start = memory.address();
        if ((flags & Rdma.IBV_ACCESS_OPTIONAL_RANGE()) != 0) {
            return Check.pointer(REG_MR_IOVA2,
                    REG_MR_IOVA2.callLong(domain, start, memory.byteSize(), start, flags), detail);
        }
        return Check.pointer(REG_MR, REG_MR.callLong(domain, start, memory.byteSize(), flags), detail);
    }

    /** The memory. */
    public MemorySegment memory() {
        life().ensureOpen();
        return memory;
    }

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** What it may be used for. */
    public Set<AccessFlag> access() {
        life().ensureOpen();
        return access;
    }

    /** The address of its first byte, by which a peer names it. */
    public long remoteAddress() {
        life().ensureOpen();
        return start;
    }

    /** Its length in bytes. */
    public long length() {
        life().ensureOpen();
        return length;
    }

    /** The key for work requests of this side ({@code lkey}); an unsigned number. */
    public int localKey() {
        life().ensureOpen();
        return localKey;
    }

    /** The key for work requests of a peer ({@code rkey}); an unsigned number. */
    public int remoteKey() {
        life().ensureOpen();
        return remoteKey;
    }

    /** The address of a part of it, checked: for the scatter lists of work requests. */
    long addressOf(long offset, long bytes) {
        life().ensureOpen();
        Objects.checkFromIndexSize(offset, bytes, length);
        return start + offset;
    }

    /** The local key, for a region that {@link #addressOf} was just asked for. */
    int localKeyUnchecked() {
        return localKey;
    }

    /** Whether its bytes can be read by the processor right now. */
    boolean isReadable() {
        return life().isOpen() && memory.scope().isAlive();
    }

    @Override
    @CFunction("ibv_dereg_mr")
    protected void destroy() throws RdmaException {
        // A post of inline data reads the memory itself: it must be out before the memory goes. Later ones see that
        // the region is closed.
        domain.awaitPosts();
        if (!deregistered) {
            Check.returned(DEREG_MR, DEREG_MR.callInt(address()));
            deregistered = true;
        }
        // Refused while another thread is inside a call of the JDK with this memory: then close() can be called again.
        if (owned != null) {
            owned.close();
        }
    }
}
