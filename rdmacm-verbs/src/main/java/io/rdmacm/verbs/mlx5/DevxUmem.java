// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_devx_umem;
import io.rdmacm.bindings.mlx5.mlx5dv_devx_umem_in;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory of the program that commands of DEVX name by a number, for queues and the like
 * ({@code struct mlx5dv_devx_umem}, mlx5dv_devx_umem_reg(3)). It is pinned until this is closed. Thread-safe.
 */
@CFunction("mlx5dv_devx_umem_dereg")
public final class DevxUmem extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction REGISTER = NativeFunction.of("mlx5dv_devx_umem_reg");
    private static final NativeFunction REGISTER_EX = NativeFunction.of("mlx5dv_devx_umem_reg_ex");
    private static final NativeFunction DEREGISTER = NativeFunction.of("mlx5dv_devx_umem_dereg");

    private final MemorySegment memory;

    /** Keeps memory of an automatic arena until it is deregistered, even if the object is lost. */
    private record Kept(MemorySegment memory) implements Runnable {
        @Override
        public void run() {
            // the collector does the rest
        }
    }

    private DevxUmem(Lifetime life, long address, MemorySegment memory) {
        super(life, address, mlx5dv_devx_umem.sizeof());
        this.memory = memory;
    }

    /**
     * Registers memory ({@code mlx5dv_devx_umem_reg}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param memory native memory, which must not be freed before this is closed
     * @param access what the device may do: LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ
     * @return the registered memory
     * @throws IllegalArgumentException if the memory is empty, read-only, or of the heap
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException EPERM or EINVAL if the kernel refuses; ENOMEM if the limit of locked memory is reached
     */
    @CFunction("mlx5dv_devx_umem_reg")
    public static DevxUmem register(VerbsContext context, MemorySegment memory, AccessFlag... access)
            throws RdmaException {
        requireNative(memory);
        return make(context, memory, arena -> Check.pointer(REGISTER, memory.byteSize() + " bytes",
                REGISTER.callLong(VERBS.addressOf(context), memory.address(), memory.byteSize(), bits(access))));
    }

    /**
     * Registers memory in pages of given sizes ({@code mlx5dv_devx_umem_reg_ex}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param memory native memory, which must not be freed before this is closed
     * @param pageSizes the sum of the sizes of pages in bytes, powers of two, that the command can express
     * @param access what the device may do: LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ
     * @return the registered memory
     * @throws IllegalArgumentException if the memory is empty, read-only, or of the heap, or there is no size
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException EINVAL if the memory has no such pages; else as for {@link #register}
     */
    @CFunction("mlx5dv_devx_umem_reg_ex")
    public static DevxUmem registerPages(VerbsContext context, MemorySegment memory, long pageSizes,
            AccessFlag... access) throws RdmaException {
        requireNative(memory);
        requireSizes(pageSizes);
        return register(context, memory, attributes -> {
            Memory.putLong(attributes + mlx5dv_devx_umem_in.addr$offset(), memory.address());
            Memory.putLong(attributes + mlx5dv_devx_umem_in.size$offset(), memory.byteSize());
            Memory.putLong(attributes + mlx5dv_devx_umem_in.pgsz_bitmap$offset(), pageSizes);
            Memory.putInt(attributes + mlx5dv_devx_umem_in.access$offset(), bits(access));
        });
    }

    /**
     * Registers memory of another device, which a DMA-BUF refers to ({@code mlx5dv_devx_umem_reg_ex} with
     * {@code MLX5DV_UMEM_MASK_DMABUF}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param fileDescriptor the file descriptor of the DMA-BUF; may be closed afterwards
     * @param offset where the memory begins in it, in bytes
     * @param length the length in bytes, at least 1
     * @param pageSizes the sum of the sizes of pages in bytes, powers of two, that the command can express
     * @param access what the device may do: LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ
     * @return the registered memory
     * @throws IllegalArgumentException if a number is out of range
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException EBADF if there is no such file; else as for {@link #register}
     */
    @CFunction("mlx5dv_devx_umem_reg_ex")
    public static DevxUmem registerDmaBuf(VerbsContext context, int fileDescriptor, long offset, long length,
            long pageSizes, AccessFlag... access) throws RdmaException {
        requireSizes(pageSizes);
        if (fileDescriptor < 0 || offset < 0 || length < 1) {
            throw new IllegalArgumentException("a DMA-BUF has a file descriptor, an offset and a length, not "
                    + fileDescriptor + ", " + offset + ", " + length);
        }
        return register(context, MemorySegment.NULL, attributes -> {
            Memory.putLong(attributes + mlx5dv_devx_umem_in.addr$offset(), offset);
            Memory.putLong(attributes + mlx5dv_devx_umem_in.size$offset(), length);
            Memory.putLong(attributes + mlx5dv_devx_umem_in.pgsz_bitmap$offset(), pageSizes);
            Memory.putInt(attributes + mlx5dv_devx_umem_in.access$offset(), bits(access));
            Memory.putInt(attributes + mlx5dv_devx_umem_in.dmabuf_fd$offset(), fileDescriptor);
            Memory.putLong(attributes + mlx5dv_devx_umem_in.comp_mask$offset(), Mlx5.MLX5DV_UMEM_MASK_DMABUF());
        });
    }

    private static DevxUmem register(VerbsContext context, MemorySegment memory, LongConsumer writer)
            throws RdmaException {
        return make(context, memory, arena -> {
            long attributes = arena.allocate(mlx5dv_devx_umem_in.layout()).address();
            writer.accept(attributes);
            return Check.pointer(REGISTER_EX, REGISTER_EX.callLong(VERBS.addressOf(context), attributes));
        });
    }

    private static DevxUmem make(VerbsContext context, MemorySegment memory, Lifetime.Creator creator)
            throws RdmaException {
        return Lifetime.make(DevxUmem.class, List.of(VERBS.lifeOf(context)), creator, DEREGISTER::free,
                (life, address) -> new DevxUmem(life, address, memory), new Kept(memory));
    }

    private static int bits(AccessFlag... access) {
        return Flags.mask(Arrays.asList(access), AccessFlag::bit);
    }

    private static void requireSizes(long pageSizes) {
        if (pageSizes == 0) {
            throw new IllegalArgumentException("pages need a size");
        }
    }

    private static void requireNative(MemorySegment memory) {
        if (!memory.isNative() || memory.isReadOnly() || memory.byteSize() == 0) {
            throw new IllegalArgumentException("the segment must be native, writable and non-empty: " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory is closed");
        }
    }

    /** {@return the number by which commands name the memory} */
    public int id() {
        return intMember(mlx5dv_devx_umem.umem_id$offset());
    }

    /** {@return the memory; that of a DMA-BUF is empty, because this process does not have it} */
    public MemorySegment memory() {
        life().ensureOpen();
        return memory;
    }
}
