// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.util.Map;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;

/** The few functions of the C library that are needed, mostly for waiting. The constants are those of 64-bit Linux. */
public final class Libc {
    /** The file is readable. */
    public static final int POLLIN = Rdma.POLLIN();
    /** The file descriptor is not open. */
    public static final int POLLNVAL = Rdma.POLLNVAL();

    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int RTLD_LAZY = 1;
    private static final int SYS_MEMBARRIER = Map.of("amd64", 324, "aarch64", 283)
            .getOrDefault(System.getProperty("os.arch"), -1);

    private static final NativeFunction POLL = NativeFunction.libc("poll");
    private static final NativeFunction EVENTFD = NativeFunction.libc("eventfd");
    private static final NativeFunction EVENTFD_READ = NativeFunction.libc("eventfd_read");
    private static final NativeFunction EVENTFD_WRITE = NativeFunction.libc("eventfd_write");
    private static final NativeFunction OPEN = NativeFunction.libc("open");
    private static final NativeFunction CLOSE = NativeFunction.libc("close");
    private static final NativeFunction MUNMAP = NativeFunction.libc("munmap");
    private static final NativeFunction GETPAGESIZE = NativeFunction.libc("getpagesize");
    private static final NativeFunction DLOPEN = NativeFunction.libc("dlopen");
    private static final NativeFunction DLERROR = NativeFunction.libc("dlerror");
    private static final NativeFunction FCNTL = NativeFunction.libc("fcntl");
    private static final NativeFunction SYSCALL = NativeFunction.libc("syscall");

    private Libc() {
    }

    /** Waits until one of the files is ready (poll(2)); returns 0 on a timeout, and if a signal arrived. */
    public static int poll(long pollfds, int count, int milliseconds) throws RdmaException {
        int ready = POLL.callInt(pollfds, count, milliseconds);
        if (ready < 0 && Errno.last() == Rdma.EINTR()) {
            return 0;
        }
        return Check.minusOne(POLL, ready);
    }

    /** Creates a non-blocking event counter (eventfd(2)). */
    public static int eventfd() throws RdmaException {
        return Check.minusOne(EVENTFD, EVENTFD.callInt(0, Rdma.EFD_CLOEXEC() | Rdma.EFD_NONBLOCK()));
    }

    /** Resets an event counter; has no effect if it is 0 already. */
    public static void drain(int eventfd, long scratch) throws RdmaException {
        EVENTFD_READ.callInt(eventfd, scratch);
    }

    /** Increments an event counter. */
    public static void signal(int eventfd) throws RdmaException {
        EVENTFD_WRITE.callInt(eventfd, 1);
    }

    /** Opens an existing file (open(2)); the path is the address of a C string. */
    static int open(long path, int flags) throws RdmaException {
        return Check.minusOne(OPEN, OPEN.callInt(path, flags));
    }

    /** Closes a file descriptor (close(2)). */
    public static void close(int fd) throws RdmaException {
        CLOSE.callInt(fd);
    }

    /** Removes a mapping of memory (munmap(2)). */
    public static void unmap(long address, long length) throws RdmaException {
        Check.minusOne(MUNMAP, MUNMAP.callInt(address, length));
    }

    /** Returns the size of a page of memory in bytes. */
    public static int pageSize() throws RdmaException {
        return GETPAGESIZE.callInt();
    }

    /** Duplicates a file descriptor; child processes do not inherit the duplicate. */
    public static int duplicate(int fd) throws RdmaException {
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }

    /** Makes a file non-blocking: reads fail with EAGAIN instead of waiting. */
    public static void makeNonBlocking(int fd) throws RdmaException {
        int flags = fcntl(fd, F_GETFL, 0);
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    }

    private static int fcntl(int fd, int command, int argument) throws RdmaException {
        return Check.minusOne(FCNTL, FCNTL.callInt(fd, command, argument));
    }

    /** Returns why a library cannot be loaded (dlopen(3), dlerror(3)); an empty string if it can, or nobody knows. */
    static String loadError(String library) throws NativeLibraryException {
        if (!DLOPEN.isAvailable() || !DLERROR.isAvailable()) {
            return "";
        }
        try (Arena arena = Arena.ofConfined()) {
            // Before dlopen too: the look-up of a function forgets the reason.
            DLERROR.callLong();
            String error = DLOPEN.callLong(arena.allocateFrom(library).address(), RTLD_LAZY) == 0
                    ? Memory.string(DLERROR.callLong()) : null;
            return error == null ? "" : error;
        }
    }

    /** Calls membarrier(2); returns -1 if the kernel or a sandbox refuses it. */
    public static int membarrier(int command) throws RdmaException {
        return SYS_MEMBARRIER < 0 ? -1 : SYSCALL.callInt(SYS_MEMBARRIER, command);
    }
}
