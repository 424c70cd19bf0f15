// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/** Imports a context by the file that it sends commands to the kernel through ({@code ibv_import_device}). */
public final class CommandFile {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int TYPE = 0xf000;
    private static final int CHARACTER_DEVICE = 0x2000;
    private static final NativeFunction IMPORT_DEVICE = NativeFunction.of("ibv_import_device");

    private CommandFile() {
    }

    /**
     * Creates a {@code struct ibv_context} that owns a duplicate of a file descriptor.
     *
     * @param fd the file descriptor; it still belongs to the caller
     * @return the address of the context
     * @throws IllegalArgumentException if it does not refer to an open character device
     */
    public static long importDevice(int fd) throws RdmaException {
        requireDevice(fd);
        int duplicate = Libc.duplicate(fd);
        long context = IMPORT_DEVICE.callLong(duplicate);
        if (context == 0) {
            int error = Errno.last();
            // With these two errors no driver has seen the descriptor yet. With all others the driver has closed it
            // already, and its number may belong to another thread's file by now.
            if (error == Rdma.EOPNOTSUPP() || error == Rdma.ENODEV()) {
                Libc.close(duplicate);
            }
            throw Failures.of(IMPORT_DEVICE.name(), error, "file descriptor " + fd);
        }
        return context;
    }

    private static void requireDevice(int fd) {
        boolean device = false;
        try {
            int mode = (int) Files.getAttribute(DESCRIPTORS.resolve(Integer.toString(fd)), "unix:mode");
            device = (mode & TYPE) == CHARACTER_DEVICE;
        } catch (IOException e) {
            // The descriptor is not open.
        }
        if (!device) {
            throw new IllegalArgumentException("file descriptor " + fd + " does not refer to an RDMA device");
        }
    }
}
