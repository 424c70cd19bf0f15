// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.mlx5dv_devx_umem;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory of the program that commands of DEVX name by a number, for queues and the like
 * ({@code struct mlx5dv_devx_umem}, mlx5dv_devx_umem_reg(3)). It is pinned until this is closed. Thread-safe.
 */
public final class DevxMemory extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction REGISTER = NativeFunction.of("mlx5dv_devx_umem_reg");
    private static final NativeFunction DEREGISTER = NativeFunction.of("mlx5dv_devx_umem_dereg");

    // keeps memory of an automatic arena
    private final MemorySegment memory;

    private DevxMemory(Lifetime life, long address, MemorySegment memory) {
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
    public static DevxMemory register(VerbsContext context, MemorySegment memory, AccessFlag... access)
            throws RdmaException {
        if (!memory.isNative() || memory.isReadOnly() || memory.byteSize() == 0) {
            throw new IllegalArgumentException("only native memory can be registered, and neither none nor what is"
                    + " read-only: " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory is closed");
        }
        Lifetime life = Lifetime.begin(DevxMemory.class, VERBS.lifeOf(context));
        long address = life.create(() -> Check.pointer(REGISTER, REGISTER.callLong(VERBS.addressOf(context),
                memory.address(), memory.byteSize(), Flags.mask(Arrays.asList(access), AccessFlag::bit)),
                memory.byteSize() + " bytes"));
        return new DevxMemory(life, address, memory);
    }

    /** {@return the number by which commands name the memory} */
    public int id() {
        return intMember(mlx5dv_devx_umem.umem_id$offset());
    }

    /** {@return the memory} */
    public MemorySegment memory() {
        life().ensureOpen();
        return memory;
    }

    @Override
    @CFunction("mlx5dv_devx_umem_dereg")
    protected void destroy() throws RdmaException {
        Check.returned(DEREGISTER, DEREGISTER.callInt(address()));
    }
}
