// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/** The file by which a context gives its commands to the kernel, for {@code ibv_import_device}. */
public final class CommandFile {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int TYPE = 0xf000;
    private static final int CHARACTER_DEVICE = 0x2000;
    private static final NativeFunction IMPORT_DEVICE = NativeFunction.of("ibv_import_device");

    private CommandFile() {
    }

    /**
     * A new {@code struct ibv_context} over a duplicate of the file, which it owns.
     *
     * @param fd the caller's, and stays it
     * @throws IllegalArgumentException when it is no open character device
     */
    public static long importDevice(int fd) throws RdmaException {
        requireDevice(fd);
        int duplicate = Libc.duplicate(fd);
        long context = IMPORT_DEVICE.callLong(duplicate);
        if (context == 0) {
            int error = Errno.last();
            // These two come before a driver has seen the file. Drivers close it when they fail, and by now it may be
            // another thread's.
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
            // not open
        }
        if (!device) {
            throw new IllegalArgumentException("file descriptor " + fd + " is not that of an RDMA device");
        }
    }
}
