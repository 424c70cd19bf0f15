// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A file descriptor of a dma-buf, by which drivers share memory of devices: device memory ({@link #export}) and buffers
 * ({@link VerbsBuffer#exportDmaBuf}) can be exported as one. It belongs to the program: {@link #close()} closes it, at
 * any time. The memory lives on as long as somebody has the dma-buf open or has imported it. All methods are
 * thread-safe.
 */
public final class DmaBuf implements AutoCloseable {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction EXPORT = NativeFunction.of("ibv_dm_export_dmabuf_fd");

    private final Lifetime life;
    private final int fd;

    private DmaBuf(Lifetime life, int fd) {
        this.life = life;
        this.fd = fd;
        life.describe(() -> "fd " + fd);
        LeakDetector.watch(this, life);
    }

    /**
     * Exports device memory, for another driver to import ({@code ibv_dm_export_dmabuf_fd},
     * ibv_dm_export_dmabuf_fd(3); since rdma-core 62). The dma-buf outlives the object.
     *
     * @param memory the device memory
     * @return a new file descriptor, to be closed by the caller
     * @throws NativeLibraryException if the installed library is older than rdma-core 62
     * @throws RdmaUnsupportedException if the driver cannot export device memory
     * @throws RdmaException if the kernel cannot
     */
    @CFunction("ibv_dm_export_dmabuf_fd")
    public static DmaBuf export(DeviceMemory memory) throws RdmaException {
        return export(memory, EXPORT);
    }

    /** Calls a function that returns a new file descriptor for an object. */
    static DmaBuf export(NativeObject object, NativeFunction function) throws RdmaException {
        VERBS.lifeOf(object).enter();
        try {
            return Lifetime.make(DmaBuf.class, List.of(),
                    arena -> Check.minusOne(function, function.callInt(VERBS.addressOf(object))),
                    fd -> Libc.close((int) fd), (life, fd) -> new DmaBuf(life, (int) fd));
        } finally {
            VERBS.lifeOf(object).leave();
        }
    }

    /**
     * Returns the file descriptor, for {@link io.rdmacm.verbs.ProtectionDomain#registerDmaBuf} or a function of another
     * library.
     *
     * @return the file descriptor
     * @throws IllegalStateException if it has been closed
     */
    public int fd() {
        life.ensureOpen();
        return fd;
    }

    /** {@return whether the file descriptor is open} */
    public boolean isOpen() {
        return life.isOpen();
    }

    /**
     * Closes the file descriptor (close(2)). Has no effect if it is closed already.
     *
     * @throws RdmaException never: closing cannot fail
     */
    @Override
    public void close() throws RdmaException {
        life.close(() -> { }, life::free);
    }

    @Override
    public String toString() {
        return life + (life.isOpen() ? "" : " (closed)");
    }
}
