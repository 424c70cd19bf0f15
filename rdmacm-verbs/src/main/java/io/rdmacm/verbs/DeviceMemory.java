// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_alloc_dm_attr;
import io.rdmacm.bindings.ibv_dm;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory on the device itself ({@code struct ibv_dm}, ibv_alloc_dm(3)). The processor copies to and from it, and work
 * requests use it through a memory region ({@link ProtectionDomain#register(DeviceMemory, long, long, AccessFlag...)}),
 * which must be closed first. All methods are thread-safe, but concurrent copies are not ordered among each other.
 */
@CFunction({"ibv_free_dm", "ibv_unimport_dm"})
public final class DeviceMemory extends NativeObject {
    private static final NativeFunction IMPORT_DM = NativeFunction.of("ibv_import_dm");
    private static final NativeFunction UNIMPORT_DM = NativeFunction.of("ibv_unimport_dm");
    private static final int MAX_LOG_ALIGNMENT = 63;
    // the length of imported memory is not known, and the device checks the range
    private static final long IMPORTED = Long.MAX_VALUE;

    private final VerbsContext context;
    private final long length;

    private DeviceMemory(VerbsContext context, Lifetime life, long address, long length) {
        super(life, address, ibv_dm.sizeof());
        this.context = context;
        this.length = length;
        life.describe(() -> length == IMPORTED ? "imported" : length + " bytes");
    }

    static DeviceMemory allocate(VerbsContext context, long bytes, int logAlignment) throws RdmaException {
        return allocate(context, bytes, logAlignment, (attributes, arena) -> {
            NativeFunction function = ExtendedOps.ALLOC_DM.require(context.address());
            return Check.pointer(function, bytes + " bytes", function.callLong(context.address(), attributes));
        });
    }

    static DeviceMemory allocate(VerbsContext context, long bytes, int logAlignment,
            VerbsAccess.QueueCreator creator) throws RdmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("device memory needs at least 1 byte, not " + bytes);
        }
        if (logAlignment < 0 || logAlignment > MAX_LOG_ALIGNMENT) {
            throw new IllegalArgumentException("logAlignment must be from 0 to " + MAX_LOG_ALIGNMENT + ", not "
                    + logAlignment);
        }
        return make(context, bytes, ExtendedOps.FREE_DM.freer(context.address()), arena -> {
            long attributes = arena.allocate(ibv_alloc_dm_attr.layout()).address();
            Memory.putLong(attributes + ibv_alloc_dm_attr.length$offset(), bytes);
            Memory.putInt(attributes + ibv_alloc_dm_attr.log_align_req$offset(), logAlignment);
            return creator.create(attributes, arena);
        });
    }

    static DeviceMemory importMemory(VerbsContext context, int kernelHandle) throws RdmaException {
        return make(context, IMPORTED, UNIMPORT_DM::callInt,
                arena -> Check.imported(IMPORT_DM, context.address(), kernelHandle));
    }

    private static DeviceMemory make(VerbsContext context, long length, Lifetime.Freer freer, Lifetime.Creator creator)
            throws RdmaException {
        return Lifetime.make(DeviceMemory.class, List.of(context.life()), creator, freer,
                (life, address) -> new DeviceMemory(context, life, address, length));
    }

    /** {@return the context that the memory was allocated from} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return the length in bytes; {@link Long#MAX_VALUE} for imported memory, whose length is not known} */
    public long length() {
        life().ensureOpen();
        return length;
    }

    /**
     * Returns the kernel's handle of this memory, for {@link VerbsContext#importDeviceMemory} ({@code ibv_dm.handle}).
     *
     * @return the handle
     * @throws RdmaException if the driver does not report it, as an {@link RdmaUnsupportedException}
     */
    public int kernelHandle() throws RdmaException {
        if ((intMember(ibv_dm.comp_mask$offset()) & Rdma.IBV_DM_MASK_HANDLE()) == 0) {
            throw Failures.of("ibv_dm.handle", Rdma.EOPNOTSUPP());
        }
        return intMember(ibv_dm.handle$offset());
    }

    /**
     * Copies from memory of the process to the device ({@code ibv_memcpy_to_dm}, ibv_alloc_dm(3)).
     *
     * @param offset where to copy to, in bytes; many devices require a multiple of 4
     * @param source heap or native memory; many devices require a length that is a multiple of 4
     * @throws IndexOutOfBoundsException if the range exceeds the device memory
     * @throws RdmaException EINVAL or EFAULT if the device refuses the offset or the length
     */
    @CFunction("ibv_memcpy_to_dm")
    public void copyFrom(long offset, MemorySegment source) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            checkRange(offset, source.byteSize());
            // A copy that nobody can free during the call.
            long copy = arena.allocate(Math.max(1, source.byteSize()), Long.BYTES).copyFrom(source).address();
            NativeFunction function = function("ibv_memcpy_to_dm", ibv_dm.memcpy_to_dm$offset());
            Check.returned(function, function.callInt(address(), offset, copy, source.byteSize()));
        } finally {
            life().leave();
        }
    }

    /**
     * Copies from the device to memory of the process ({@code ibv_memcpy_from_dm}, ibv_alloc_dm(3)).
     *
     * @param offset where to copy from, in bytes; many devices require a multiple of 4
     * @param target heap or native memory; many devices require a length that is a multiple of 4
     * @throws IndexOutOfBoundsException if the range exceeds the device memory
     * @throws RdmaException EINVAL or EFAULT if the device refuses the offset or the length
     */
    @CFunction("ibv_memcpy_from_dm")
    public void copyTo(long offset, MemorySegment target) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            checkRange(offset, target.byteSize());
            MemorySegment copy = arena.allocate(Math.max(1, target.byteSize()), Long.BYTES);
            NativeFunction function = function("ibv_memcpy_from_dm", ibv_dm.memcpy_from_dm$offset());
            Check.returned(function, function.callInt(copy.address(), address(), offset, target.byteSize()));
            MemorySegment.copy(copy, 0, target, 0, target.byteSize());
        } finally {
            life().leave();
        }
    }

    void checkRange(long offset, long bytes) {
        life().ensureOpen();
        Objects.checkFromIndexSize(offset, bytes, length);
    }

    private NativeFunction function(String name, long offset) throws RdmaException {
        long pointer = Memory.getLong(address() + offset);
        if (pointer == 0) {
            throw Failures.of(name, Rdma.EOPNOTSUPP());
        }
        return NativeFunction.at(name, pointer);
    }
}
