// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory that the driver has allocated in the way that suits the device ({@code struct ibv_buf}, ibv_alloc_buf(3);
 * since rdma-core 64). It is meant for confidential VMs, whose ordinary memory is encrypted: there, a buffer of a
 * {@link io.rdmacm.verbs.ParentDomain} with
 * {@link io.rdmacm.verbs.ParentDomainAttributes#allowUnprotected allowUnprotected} is shared with the device, which
 * otherwise needs bounce buffers ({@link io.rdmacm.verbs.device.DeviceCapability#CC_DMA_BOUNCE CC_DMA_BOUNCE}).
 * Elsewhere it is ordinary memory.
 *
 * <p>The buffer must be closed after the memory regions that it is registered for ({@link #register}), and before its
 * protection domain. All methods are thread-safe.
 */
@CFunction("ibv_free_buf")
public final class VerbsBuffer extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction ALLOC_BUF = NativeFunction.of("ibv_alloc_buf");
    private static final NativeFunction FREE_BUF = NativeFunction.of("ibv_free_buf");
    private static final NativeFunction REG_BUF_MR = NativeFunction.of("ibv_reg_buf_mr");
    private static final NativeFunction EXPORT = NativeFunction.of("ibv_export_buf_dmabuf_fd");

    private final ProtectionDomain domain;
    private final long memory;
    private final long bytes;

    private VerbsBuffer(ProtectionDomain domain, Lifetime life, long address, long memory, long bytes) {
        // The struct is opaque.
        super(life, address, 0);
        this.domain = domain;
        this.memory = memory;
        this.bytes = bytes;
        life.describe(() -> bytes + " bytes");
        // what another user of the C library has left there must not become visible
        memory().fill((byte) 0);
    }

    /**
     * Allocates a buffer in the way that the driver has for the domain ({@code ibv_alloc_buf}).
     *
     * @param domain the protection domain, or a parent domain
     * @param bytes the size in bytes, at least 1
     * @return the new buffer, page-aligned and zeroed
     * @throws IllegalArgumentException if the size is not positive
     * @throws NativeLibraryException if the installed library is older than rdma-core 64
     * @throws RdmaException ENOMEM if there is not enough memory
     */
    @CFunction("ibv_alloc_buf")
    public static VerbsBuffer allocate(ProtectionDomain domain, long bytes) throws RdmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("a buffer needs at least 1 byte, not " + bytes);
        }
        try (Arena outer = Arena.ofConfined()) {
            // the struct, and its memory
            long result = outer.allocate(ValueLayout.JAVA_LONG, 2).address();
            return Lifetime.make(VerbsBuffer.class, List.of(VERBS.lifeOf(domain)), arena -> {
                Memory.putLong(result + Long.BYTES, Check.pointer(ALLOC_BUF, bytes + " bytes",
                        ALLOC_BUF.callLong(VERBS.addressOf(domain), bytes, result)));
                return Memory.getLong(result);
            }, FREE_BUF::callInt, (life, address) -> new VerbsBuffer(domain, life, address,
                    Memory.getLong(result + Long.BYTES), bytes));
        }
    }

    /** {@return the protection domain that the buffer belongs to} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return the memory; accessing it after {@link #close()} throws {@link IllegalStateException}} */
    public MemorySegment memory() {
        return life().view(memory, bytes);
    }

    /** {@return the length in bytes} */
    public long length() {
        life().ensureOpen();
        return bytes;
    }

    /**
     * Registers a part of the buffer in its protection domain ({@code ibv_reg_buf_mr}).
     *
     * @param offset the offset of the region in the buffer, in bytes
     * @param length the length of the region in bytes
     * @param access what the memory may be used for; local read access is always granted
     * @return the new region, to be closed before the buffer
     * @throws IllegalArgumentException if the length is 0, or the access flags need {@link AccessFlag#LOCAL_WRITE} and
     *         lack it
     * @throws IndexOutOfBoundsException if the range exceeds the buffer
     * @throws RdmaException ENOMEM if the limit of locked memory is reached; EINVAL if the device refuses the access
     *         flags
     */
    @CFunction("ibv_reg_buf_mr")
    public MemoryRegion register(long offset, long length, AccessFlag... access) throws RdmaException {
        MemorySegment part = memory().asSlice(offset, length);
        return VERBS.register(domain, new VerbsAccess.RegionSource(part, part.address(), length, REG_BUF_MR,
                length + " bytes", flags -> REG_BUF_MR.callLong(VERBS.addressOf(domain), address(), part.address(),
                        length, flags), List.of(life())), access);
    }

    /**
     * Exports the buffer as a dma-buf, for another driver to import ({@code ibv_export_buf_dmabuf_fd},
     * ibv_alloc_buf(3); since rdma-core 65). The dma-buf outlives the buffer.
     *
     * @return a new file descriptor, to be closed by the caller
     * @throws NativeLibraryException if the installed library is older than rdma-core 65
     * @throws RdmaException ENODATA if the buffer is ordinary memory
     */
    @CFunction("ibv_export_buf_dmabuf_fd")
    public DmaBuf exportDmaBuf() throws RdmaException {
        return DmaBuf.export(this, EXPORT);
    }
}
