// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Epoll;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Libc;

/**
 * Several files and a wakeup, behind one file: for an event loop of a program, or for one here that sleeps in
 * {@link #await}. Its user has a lock for it, which is not held during a sleep.
 */
public final class EventFile implements Wait.Loop {
    /** The token of the wakeup, and of files that were given none. */
    public static final long WAKEUP = 0;
    /** The event of a file that can be read. */
    public static final int READABLE = Epoll.READABLE;
    /** The event of a file that can be written. */
    public static final int WRITABLE = Epoll.WRITABLE;

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
        try {
            wakeup = Libc.eventfd();
            EventFile file = new EventFile(epoll, wakeup);
            file.watch(wakeup);
            for (int watched : files) {
                file.watch(watched);
            }
            return file;
        } catch (Throwable t) {
            epoll.close();
            if (wakeup >= 0) {
                Libc.close(wakeup);
            }
            throw t;
        }
    }

    /** Returns the file descriptor. */
    public int fd() {
        return epoll.fd();
    }

    /** Makes the file readable whenever another one is, for as long as both are open. */
    public void watch(int file) throws RdmaException {
        watch(file, WAKEUP);
    }

    /** Like {@link #watch(int)}; {@link #token} returns the token for it. */
    public void watch(int file, long token) throws RdmaException {
        check(epoll.watch(file, token));
    }

    /** Makes the file readable at other events, or at those of a file that is watched already. */
    public void watch(int file, long token, int events) throws RdmaException {
        check(epoll.watch(file, token, events));
    }

    /** Like {@link #watch(int, long)}, but for one event. */
    public void arm(int file, long token) throws RdmaException {
        check(epoll.arm(file, token));
    }

    /** Removes another file; has no effect if it is closed or was never watched. */
    public void forget(int file) throws RdmaException {
        epoll.forget(file);
    }

    /** Sleeps for some time at most; returns how many events there are, 0 after a signal or when the time is over. */
    public int await(long nanos) throws RdmaException {
        return epoll.await(PollSleep.milliseconds(nanos));
    }

    /** Returns the token of an event that was waited for. */
    public long token(int event) {
        return epoll.token(event);
    }

    /** Returns what happened. */
    public int events(int event) {
        return epoll.events(event);
    }

    /** Makes the file readable until {@link #reset}. */
    @Override
    public void wake() {
        if (!woken) {
            try {
                Libc.signal(wakeup);
                // not before: the stack may end there
                woken = true;
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
