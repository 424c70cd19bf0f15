// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Epoll;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Libc;

/** One file for all that can wake the thread of the program that drives a loop. Used with the lock held. */
final class LoopFile {
    private final Epoll epoll;
    private final int wakeup;
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private boolean woken;

    private LoopFile(Epoll epoll, int wakeup) {
        this.epoll = epoll;
        this.wakeup = wakeup;
    }

    static LoopFile open() throws RdmaException {
        Epoll epoll = Epoll.open();
        boolean made = false;
        try {
            LoopFile file = new LoopFile(epoll, Libc.eventfd());
            made = true;
            return file;
        } finally {
            if (!made) {
                epoll.close();
            }
        }
    }

    int fd() {
        return epoll.fd();
    }

    /** Makes the file readable when the channel is, or {@link #wake} is called. */
    void arm(int channel) throws RdmaException {
        watch(channel);
        watch(wakeup);
    }

    void wake() {
        if (!woken) {
            woken = true;
            try {
                Libc.signal(wakeup);
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Makes the file unreadable until the next wake. */
    void reset() throws RdmaException {
        if (woken) {
            Libc.drain(wakeup, scratch.address());
            woken = false;
        }
    }

    void close() throws RdmaException {
        epoll.close();
        Libc.close(wakeup);
    }

    private void watch(int file) throws RdmaException {
        int errno = epoll.arm(file, 0);
        if (errno != 0) {
            throw Failures.of("epoll_ctl", errno);
        }
    }
}
