// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory that the driver has allocated in the way that suits the device ({@code struct ibv_buf}, ibv_alloc_buf(3);
 * since rdma-core 64). It is meant for confidential VMs, whose ordinary memory is encrypted: there, a buffer of a
 * {@link ParentDomain} with {@link ParentDomainAttributes#allowUnprotected} is shared with the device, which otherwise
 * needs bounce buffers ({@link io.rdmacm.verbs.device.DeviceCapability#CC_DMA_BOUNCE CC_DMA_BOUNCE}). Elsewhere it is
 * ordinary memory.
 *
 * <p>The buffer must be closed after the memory regions that it is registered for
 * ({@link ProtectionDomain#register(VerbsBuffer, long, long, AccessFlag...)}), and before its protection domain. All
 * methods are thread-safe.
 */
public final class VerbsBuffer extends NativeObject {
    private static final NativeFunction ALLOC_BUF = NativeFunction.of("ibv_alloc_buf");
    private static final NativeFunction FREE_BUF = NativeFunction.of("ibv_free_buf");
    private static final NativeFunction EXPORT = NativeFunction.of("ibv_export_buf_dmabuf_fd");

    private final ProtectionDomain domain;
    private final Arena arena;
    private final MemorySegment memory;

    private VerbsBuffer(ProtectionDomain domain, Lifetime life, long address, long memory, long bytes) {
        // The struct is opaque.
        super(life, address, 0);
        this.domain = domain;
        this.arena = Arena.ofShared();
        this.memory = Memory.view(memory, bytes, arena);
        life.describe(() -> bytes + " bytes");
    }

    static VerbsBuffer allocate(ProtectionDomain domain, long bytes) throws RdmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("a buffer needs at least 1 byte, not " + bytes);
        }
        Lifetime life = Lifetime.begin(VerbsBuffer.class, domain.life());
        try (Arena confined = Arena.ofConfined()) {
            long result = confined.allocate(ValueLayout.JAVA_LONG).address();
            long memory = life.create(() -> Check.pointer(ALLOC_BUF,
                    ALLOC_BUF.callLong(domain.address(), bytes, result), bytes + " bytes"));
            VerbsBuffer buffer = new VerbsBuffer(domain, life, Memory.getLong(result), memory, bytes);
            // what another user of the C library has left there must not become visible
            buffer.memory.fill((byte) 0);
            return buffer;
        }
    }

    /** Checks that the installed library has buffers. */
    static void requireAvailable() throws NativeLibraryException {
        ALLOC_BUF.require();
    }

    /** {@return the protection domain that the buffer belongs to} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return the memory; accessing it after {@link #close()} throws {@link IllegalStateException}} */
    public MemorySegment memory() {
        life().ensureOpen();
        return memory;
    }

    /** {@return the length in bytes} */
    public long length() {
        life().ensureOpen();
        return memory.byteSize();
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
        life().enter();
        try {
            return DmaBuf.of(() -> Check.minusOne(EXPORT, EXPORT.callInt(address())));
        } finally {
            life().leave();
        }
    }

    @Override
    @CFunction("ibv_free_buf")
    protected void destroy() throws RdmaException {
        // Fails while another thread is inside a method of the JDK with this memory; close() can then be called again.
        arena.close();
        FREE_BUF.callInt(address());
    }
}
