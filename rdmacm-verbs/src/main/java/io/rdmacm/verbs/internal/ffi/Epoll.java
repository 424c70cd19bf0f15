// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/**
 * An epoll instance (epoll(7)). A file that is armed is reported once, when it is readable, and then no more until it
 * is armed again; a file that is watched is reported whenever it is readable. One thread may wait, while another one
 * arms and forgets files. The constants are those of 64-bit Linux.
 */
public final class Epoll {
    /** A file can be read ({@code EPOLLIN}). */
    public static final int READABLE = 0x1;
    /** A file can be written ({@code EPOLLOUT}). */
    public static final int WRITABLE = 0x4;

    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;
    private static final int EPOLLONESHOT = 1 << 30;

    // struct epoll_event: a mask of 32 bits and the token of 64 bits. Packed on x86-64, but nowhere else.
    private static final long TOKEN = System.getProperty("os.arch").equals("amd64") ? Integer.BYTES : Long.BYTES;
    private static final long EVENT_SIZE = TOKEN + Long.BYTES;
    private static final int CAPACITY = 256;

    private static final NativeFunction CREATE = NativeFunction.libc("epoll_create1");
    private static final NativeFunction CTL = NativeFunction.libc("epoll_ctl");
    private static final NativeFunction WAIT = NativeFunction.libc("epoll_wait");

    private final int fd;
    private final MemorySegment segment = Arena.ofAuto().allocate((CAPACITY + 1) * EVENT_SIZE, Long.BYTES);
    // for the thread that waits
    private final MemorySegment captured = Arena.ofAuto().allocate(Downcalls.CAPTURED);
    private final long events = segment.address();
    // for the thread that arms
    private final long change = events + CAPACITY * EVENT_SIZE;

    private Epoll(int fd) {
        this.fd = fd;
    }

    /** Creates an instance without files (epoll_create1(2)). */
    public static Epoll open() throws RdmaException {
        return new Epoll(Check.minusOne(CREATE, CREATE.callInt(EPOLL_CLOEXEC)));
    }

    /** Returns the file descriptor of the instance, which is readable when a file is to be reported. */
    public int fd() {
        return fd;
    }

    /**
     * Makes sure that the file is reported when it is readable, at once if it is readable already (epoll_ctl(2)).
     *
     * @param file the file descriptor
     * @param token what {@link #token} returns for it
     * @return 0, or the error number: EBADF if the file descriptor is not open, EPERM if the file is always readable
     */
    public int arm(int file, long token) throws RdmaException {
        return watch(file, token, READABLE | EPOLLONESHOT);
    }

    /**
     * Like {@link #watch(int, long)}, but for other events, and the file may be one that is watched already.
     *
     * @param events {@link #READABLE} and {@link #WRITABLE}, or-ed; errors are reported, too
     */
    public int watch(int file, long token, int events) throws RdmaException {
        Memory.putInt(change, events);
        Memory.putLong(change + TOKEN, token);
        // Of two files that have had the same number, the instance knows the right one, so this is ENOENT for a file
        // that was opened after the one that was armed before.
        int errno = control(EPOLL_CTL_MOD, file);
        return errno == Rdma.ENOENT() ? control(EPOLL_CTL_ADD, file) : errno;
    }

    /**
     * Makes sure that {@link #fd} is readable whenever the file is (epoll_ctl(2)). The file must not be armed.
     *
     * @param file the file descriptor
     * @param token what {@link #token} returns for it
     * @return 0, or the error number: EBADF if the file descriptor is not open, EPERM if the file is always readable
     */
    public int watch(int file, long token) throws RdmaException {
        Memory.putInt(change, READABLE);
        Memory.putLong(change + TOKEN, token);
        return control(EPOLL_CTL_ADD, file);
    }

    /** Removes a file; has no effect if it is closed or was never armed (epoll_ctl(2)). */
    public void forget(int file) throws RdmaException {
        control(EPOLL_CTL_DEL, file);
    }

    /**
     * Waits for some time; returns the number of events, 0 after a signal or when the time is over (epoll_wait(2)).
     *
     * @param milliseconds 0 to look without waiting, -1 to wait without a time limit
     */
    public int await(int milliseconds) throws RdmaException {
        int ready = WAIT.callInt(captured, fd, events, CAPACITY, milliseconds);
        if (ready >= 0) {
            return ready;
        }
        int errno = captured.get(ValueLayout.JAVA_INT, Downcalls.ERRNO_OFFSET);
        if (errno == Rdma.EINTR()) {
            return 0;
        }
        throw Failures.of(WAIT.name(), errno);
    }

    /** Returns what happened at an event that was waited for, as a mask. */
    public int events(int event) {
        return Memory.getInt(events + event * EVENT_SIZE);
    }

    /** Returns the token of an event that was waited for. */
    public long token(int event) {
        return Memory.getLong(events + event * EVENT_SIZE + TOKEN);
    }

    /** Frees the instance. No thread may be waiting. */
    public void close() throws RdmaException {
        Libc.close(fd);
    }

    private int control(int operation, int file) throws RdmaException {
        return CTL.callInt(fd, operation, file, change) == 0 ? 0 : Errno.last();
    }
}
