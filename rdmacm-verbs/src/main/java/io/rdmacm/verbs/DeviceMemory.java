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
 *
 * <p>This class cannot be extended outside this library.
 */
@CFunction({"ibv_free_dm", "ibv_unimport_dm"})
public class DeviceMemory extends NativeObject {
    private static final NativeFunction IMPORT_DM = NativeFunction.of("ibv_import_dm");
    private static final NativeFunction UNIMPORT_DM = NativeFunction.of("ibv_unimport_dm");
    private static final int MAX_LOG_ALIGNMENT = 63;
    // the length of imported memory is not known, and the device checks the range
    private static final long IMPORTED = Long.MAX_VALUE;

    private final VerbsContext context;
    private final long length;

    /**
     * Creates an object of this library for memory that has just been allocated.
     *
     * @param context the context of the device
     * @param life its lifetime
     * @param address the address of its {@code struct ibv_dm}
     * @param length the length in bytes
     * @hidden
     */
    @SuppressWarnings({"exports", "this-escape"})
    protected DeviceMemory(VerbsContext context, Lifetime life, long address, long length) {
        super(life, address, ibv_dm.sizeof());
        this.context = context;
        this.length = length;
        life.describe(() -> length == IMPORTED ? "imported" : length + " bytes");
    }

    static DeviceMemory allocate(VerbsContext context, long bytes, int logAlignment) throws RdmaException {
        return allocate(DeviceMemory.class, context, bytes, logAlignment, (attributes, arena) -> {
            NativeFunction function = ExtendedOps.ALLOC_DM.require(context.address());
            return Check.pointer(function, bytes + " bytes", function.callLong(context.address(), attributes));
        }, (life, address) -> new DeviceMemory(context, life, address, bytes));
    }

    /**
     * Allocates memory by a function of a driver. {@code ibv_free_dm} frees it.
     *
     * @param <T> the class of the object
     * @param type the class of the object
     * @param context the context of the device
     * @param bytes the size in bytes
     * @param logAlignment the base-2 logarithm of the alignment of its first byte
     * @param creator receives a {@code struct ibv_alloc_dm_attr}, and returns a {@code struct ibv_dm}
     * @param constructor constructs the object
     * @return the memory
     * @throws RdmaException as C reports it
     * @hidden
     */
    @SuppressWarnings("exports")
    protected static <T extends DeviceMemory> T allocate(Class<T> type, VerbsContext context, long bytes,
            int logAlignment, VerbsAccess.Creator creator, Lifetime.Constructor<T> constructor) throws RdmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("device memory needs at least 1 byte, not " + bytes);
        }
        if (logAlignment < 0 || logAlignment > MAX_LOG_ALIGNMENT) {
            throw new IllegalArgumentException("logAlignment must be from 0 to " + MAX_LOG_ALIGNMENT + ", not "
                    + logAlignment);
        }
        return Lifetime.make(type, List.of(context.life()), arena -> {
            long attributes = arena.allocate(ibv_alloc_dm_attr.layout()).address();
            Memory.putLong(attributes + ibv_alloc_dm_attr.length$offset(), bytes);
            Memory.putInt(attributes + ibv_alloc_dm_attr.log_align_req$offset(), logAlignment);
            return creator.create(attributes, arena);
        }, ExtendedOps.FREE_DM.freer(context.address()), constructor);
    }

    static DeviceMemory importMemory(VerbsContext context, int kernelHandle) throws RdmaException {
        return Lifetime.make(DeviceMemory.class, List.of(context.life()),
                arena -> Check.imported(IMPORT_DM, context.address(), kernelHandle), UNIMPORT_DM::callInt,
                (life, address) -> new DeviceMemory(context, life, address, IMPORTED));
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
