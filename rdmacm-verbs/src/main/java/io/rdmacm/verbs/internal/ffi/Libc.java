// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.util.Map;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/** The few functions of the C library that waiting and closing need. The constants are those of 64-bit Linux. */
public final class Libc {
    public static final int POLLIN = Rdma.POLLIN();
    public static final int POLLNVAL = Rdma.POLLNVAL();

    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final Map<String, Integer> SYS_MEMBARRIER = Map.of("amd64", 324, "aarch64", 283);

    private static final NativeFunction POLL = NativeFunction.libc("poll");
    private static final NativeFunction EVENTFD = NativeFunction.libc("eventfd");
    private static final NativeFunction EVENTFD_READ = NativeFunction.libc("eventfd_read");
    private static final NativeFunction EVENTFD_WRITE = NativeFunction.libc("eventfd_write");
    private static final NativeFunction OPEN = NativeFunction.libc("open");
    private static final NativeFunction CLOSE = NativeFunction.libc("close");
    private static final NativeFunction FCNTL = NativeFunction.libc("fcntl");
    private static final NativeFunction SYSCALL = NativeFunction.libc("syscall");

    private Libc() {
    }

    /** Waits for one of the files; 0 on time-out, and when a signal came. */
    public static int poll(long pollfds, int count, int milliseconds) throws RdmaException {
        int ready = POLL.callInt(pollfds, count, milliseconds);
        if (ready < 0 && Errno.last() == Rdma.EINTR()) {
            return 0;
        }
        return Check.minusOne(POLL, ready);
    }

    /** A new event counter that never blocks. */
    public static int eventfd() throws RdmaException {
        return Check.minusOne(EVENTFD, EVENTFD.callInt(0, Rdma.EFD_CLOEXEC() | Rdma.EFD_NONBLOCK()));
    }

    /** Takes what was signalled; nothing signalled is no error. */
    public static void drain(int eventfd, long scratch) throws RdmaException {
        EVENTFD_READ.callInt(eventfd, scratch);
    }

    public static void signal(int eventfd) throws RdmaException {
        EVENTFD_WRITE.callInt(eventfd, 1);
    }

    /** open(2) of a file that exists; the path is a C string. */
    static int open(long path, int flags) throws RdmaException {
        return Check.minusOne(OPEN, OPEN.callInt(path, flags));
    }

    public static void close(int fd) throws RdmaException {
        CLOSE.callInt(fd);
    }

    /** Another descriptor of the same file, not for child processes. */
    static int duplicate(int fd) throws RdmaException {
        return Check.minusOne(FCNTL, FCNTL.callInt(fd, F_DUPFD_CLOEXEC, 0));
    }

    /** Makes reads of a file return EAGAIN where they would wait. */
    public static void makeNonBlocking(int fd) throws RdmaException {
        int flags = Check.minusOne(FCNTL, FCNTL.callInt(fd, F_GETFL));
        Check.minusOne(FCNTL, FCNTL.callInt(fd, F_SETFL, flags | O_NONBLOCK));
    }

    /** membarrier(2); the result is -1 where the kernel or a sandbox refuses it. */
    public static int membarrier(int command) throws RdmaException {
        Integer number = SYS_MEMBARRIER.get(System.getProperty("os.arch"));
        return number == null ? -1 : SYSCALL.callInt(number, command, 0, 0);
    }
}
