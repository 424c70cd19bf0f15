// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A file descriptor of a dma-buf, by which drivers share memory of devices: {@link DeviceMemory#exportDmaBuf} and
 * {@link VerbsBuffer#exportDmaBuf} return one. It belongs to the program: {@link #close()} closes it, at any time. The
 * memory lives on as long as somebody has the dma-buf open or has imported it. All methods are thread-safe.
 */
public final class DmaBuf implements AutoCloseable {
    private final Lifetime life;
    private final int fd;

    private DmaBuf(Lifetime life, int fd) {
        this.life = life;
        this.fd = fd;
        life.describe(() -> "fd " + fd);
        LeakDetector.watch(this, life);
    }

    /** Returns the owner of a file descriptor that C opens. */
    static DmaBuf of(Lifetime.Creator opener) throws RdmaException {
        Lifetime life = Lifetime.begin(DmaBuf.class);
        return new DmaBuf(life, (int) life.create(opener));
    }

    /**
     * Returns the file descriptor, as for {@link ProtectionDomain#registerDmaBuf} or a function of another library.
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
        life.close(() -> { }, () -> Libc.close(fd));
    }

    @Override
    public String toString() {
        return life + (life.isOpen() ? "" : " (closed)");
    }
}
