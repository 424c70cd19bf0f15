// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Epoll;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Libc;

/** One file for event loops of programs, in place of several files and a wakeup. Its user has a lock for it. */
public final class EventFile implements Wait.Loop {
    private final Epoll epoll;
    private final int wakeup;
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private boolean woken;

    private EventFile(Epoll epoll, int wakeup) {
        this.epoll = epoll;
        this.wakeup = wakeup;
    }

    /**
     * Creates a file.
     *
     * @param files those that make it readable
     */
    public static EventFile open(int... files) throws RdmaException {
        Epoll epoll = Epoll.open();
        int wakeup = -1;
        boolean made = false;
        try {
            wakeup = Libc.eventfd();
            EventFile file = new EventFile(epoll, wakeup);
            file.watch(wakeup);
            for (int watched : files) {
                file.watch(watched);
            }
            made = true;
            return file;
        } finally {
            if (!made) {
                epoll.close();
                if (wakeup >= 0) {
                    Libc.close(wakeup);
                }
            }
        }
    }

    /** Returns the file descriptor. */
    public int fd() {
        return epoll.fd();
    }

    /** Makes the file readable whenever another one is, for as long as both are open. */
    public void watch(int file) throws RdmaException {
        check(epoll.watch(file));
    }

    /** Makes the file readable until {@link #reset}. */
    @Override
    public void wake() {
        if (!woken) {
            woken = true;
            try {
                Libc.signal(wakeup);
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Ends the effect of {@link #wake}. */
    @Override
    public void reset() throws RdmaException {
        if (woken) {
            Libc.drain(wakeup, scratch.address());
            woken = false;
        }
    }

    /** Frees the file. */
    public void close() throws RdmaException {
        epoll.close();
        Libc.close(wakeup);
    }

    private static void check(int errno) throws RdmaException {
        if (errno != 0) {
            throw Failures.of("epoll_ctl", errno);
        }
    }
}
