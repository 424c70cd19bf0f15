// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.nio.file.Path;

import io.rdmacm.verbs.error.RdmaException;

/** A file that is open while a C function needs its file descriptor, to identify the file to the kernel. */
public final class OpenFile implements AutoCloseable {
    // The same on x86_64 and aarch64.
    private static final int O_RDONLY = 0;
    private static final int O_CLOEXEC = 0x80000;

    private final int fd;

    private OpenFile(int fd) {
        this.fd = fd;
    }

    /** Opens an existing file (open(2)). */
    public static OpenFile of(Path path) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            return new OpenFile(Libc.open(arena.allocateFrom(path.toString()).address(), O_RDONLY | O_CLOEXEC));
        }
    }

    /** Returns the file descriptor. */
    public int fd() {
        return fd;
    }

    @Override
    public void close() throws RdmaException {
        Libc.close(fd);
    }
}
