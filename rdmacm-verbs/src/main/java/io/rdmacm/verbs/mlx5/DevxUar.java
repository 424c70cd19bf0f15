// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_devx_uar;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A doorbell register of the device ({@code struct mlx5dv_devx_uar}, mlx5dv_devx_alloc_uar(3)), for queues that were
 * created by commands. Thread-safe; writes to the register are not ordered.
 */
@CFunction("mlx5dv_devx_free_uar")
public final class DevxUar extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction ALLOCATE = NativeFunction.of("mlx5dv_devx_alloc_uar");
    private static final NativeFunction FREE = NativeFunction.of("mlx5dv_devx_free_uar");

    private DevxUar(Lifetime life, long address) {
        super(life, address, mlx5dv_devx_uar.sizeof());
    }

    /**
     * Allocates a register ({@code mlx5dv_devx_alloc_uar}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param blueFlame whether entries can be written to it, not just doorbells
     * @return the new register
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException ENOMEM if there are no more registers; EOPNOTSUPP if there are none of the kind
     */
    @CFunction("mlx5dv_devx_alloc_uar")
    public static DevxUar allocate(VerbsContext context, boolean blueFlame) throws RdmaException {
        int kind = blueFlame ? Mlx5.MLX5DV_UAR_ALLOC_TYPE_BF() : Mlx5.MLX5DV_UAR_ALLOC_TYPE_NC();
        return Lifetime.make(DevxUar.class, List.of(VERBS.lifeOf(context)),
                arena -> Check.pointer(ALLOCATE, ALLOCATE.callLong(VERBS.addressOf(context), kind)), FREE::callInt,
                DevxUar::new);
    }

    /** {@return the number by which commands name the page of the register} */
    public int pageId() {
        return intMember(mlx5dv_devx_uar.page_id$offset());
    }

    /** {@return the 8 bytes that are written to ring; using them after {@link #close()} throws} */
    public MemorySegment register() {
        life().enter();
        try {
            return life().view(Memory.getLong(address() + mlx5dv_devx_uar.reg_addr$offset()), Long.BYTES);
        } finally {
            life().leave();
        }
    }
}
