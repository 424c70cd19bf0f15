// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_dmah;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * Hints for the DMA of a device, such as the CPU that will read the data ({@code struct ibv_dmah}, ibv_alloc_dmah(3);
 * since rdma-core 59). Memory regions are registered with it ({@link ExtendedRegistration#dmaHandle}) and must be
 * closed first. All methods are thread-safe.
 */
@CFunction("ibv_dealloc_dmah")
public final class DmaHandle extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction ALLOC_DMAH = NativeFunction.of("ibv_alloc_dmah");
    private static final NativeFunction DEALLOC_DMAH = NativeFunction.of("ibv_dealloc_dmah");

    private final VerbsContext context;
    private final DmaHandleAttributes attributes;

    private DmaHandle(VerbsContext context, DmaHandleAttributes attributes, Lifetime life, long address) {
        super(life, address, ibv_dmah.sizeof());
        this.context = context;
        this.attributes = attributes;
    }

    /**
     * Allocates a DMA handle ({@code ibv_alloc_dmah}).
     *
     * @param context the device
     * @param attributes the hints for it
     * @return the new handle
     * @throws NativeLibraryException if the installed library is older than rdma-core 59
     * @throws RdmaUnsupportedException if the device has no DMA handles, or does not support one of the attributes
     * @throws RdmaException EINVAL if the device refuses a value; ENOMEM
     */
    @CFunction("ibv_alloc_dmah")
    public static DmaHandle allocate(VerbsContext context, DmaHandleAttributes attributes) throws RdmaException {
        return Lifetime.make(DmaHandle.class, List.of(VERBS.lifeOf(context)), arena -> {
            long struct = attributes.write(arena);
            return Check.pointer(ALLOC_DMAH, ALLOC_DMAH.callLong(VERBS.addressOf(context), struct));
        }, DEALLOC_DMAH::free, (life, address) -> new DmaHandle(context, attributes, life, address));
    }

    /** {@return the context that the handle was allocated from} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return the attributes that the handle was allocated with} */
    public DmaHandleAttributes attributes() {
        life().ensureOpen();
        return attributes;
    }
}
