// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Epoll;
import io.rdmacm.verbs.internal.ffi.Failures;

/**
 * Tells virtual threads that a file is readable. One daemon thread, started when first needed, waits for all files of
 * all virtual threads with epoll(7). It ends when there has been nothing to wait for, because a thread keeps the class
 * loader of this library from being collected.
 *
 * <p>An epoll instance knows a file only once, and several threads may wait for the same one, so there is one entry for
 * each file, with a list of watchers. All of them are told, and each looks for itself whether there is something for
 * it, as they would after poll(2). The alternative, a duplicate of the file descriptor for each wait, would cost two
 * more system calls for each wait, and could exceed the limit of open files.
 *
 * <p>Whoever waits removes itself before its wait ends, that is while the file is open. The last one to leave disarms
 * the file. A file that has been reported is not armed any more, so it is left where it is: the kernel never reports
 * it again, and removes it when it is closed. Each arming has a number, so an event that is still under way when its
 * watchers have left, and the file descriptor has perhaps been given to another file, is recognised and ignored.
 */
final class FileWatch {
    private static final String THREAD_NAME = "rdmacm-file-watch";
    private static final int IDLE_MILLISECONDS = 2000;

    private static final MixedThreadsLock STARTING = new MixedThreadsLock();
    // null before the first use and after the end of the last one; written with STARTING held
    private static volatile FileWatch current;

    private final Epoll epoll;
    // those that are still to be told; used by the thread
    private final List<Watcher> readable = new ArrayList<>();
    // A single lock, because the kernel changes an epoll instance under a single lock too.
    private final MixedThreadsLock lock = new MixedThreadsLock();
    // The fields below are guarded by the lock. By file descriptor; only files that are armed.
    private final Map<Integer, Entry> entries = new HashMap<>();
    private int armings;
    private boolean ended;
    // why it has ended; null if it was idle
    private RdmaException failure;

    private FileWatch(Epoll epoll) {
        this.epoll = epoll;
    }

    /** Waits for files. Called at most once for each time that it was added, without a lock. */
    interface Watcher {
        /** A file is readable. */
        void ready();

        /** It will never be known whether the file is readable. */
        void failed(RdmaException reason);
    }

    private static final class Entry {
        private final List<Watcher> watchers = new ArrayList<>(1);
        private int arming;
    }

    /** Returns the watch of this JVM. */
    static FileWatch get() throws RdmaException {
        FileWatch watch = current;
        if (watch != null) {
            return watch;
        }
        try (var _ = STARTING.hold()) {
            if (current == null) {
                current = start();
            }
            return current;
        }
    }

    private static FileWatch start() throws RdmaException {
        Epoll epoll = Epoll.open();
        try {
            FileWatch watch = new FileWatch(epoll);
            Thread.ofPlatform().daemon().name(THREAD_NAME).inheritInheritableThreadLocals(false).start(watch::run);
            return watch;
        } catch (Throwable t) {
            epoll.close();
            throw t;
        }
    }

    /**
     * Adds a watcher, to be removed before the file is closed.
     *
     * @return false if this watch has ended because it was idle: then another one is to be used
     * @throws RdmaException if the file is not open, or the kernel cannot watch any more files
     */
    boolean add(int file, Watcher watcher) throws RdmaException {
        boolean armed = false;
        try (var _ = lock.hold()) {
            if (failure != null) {
                throw failure;
            }
            if (ended) {
                return false;
            }
            Entry entry = entries.computeIfAbsent(file, key -> new Entry());
            try {
                armed = arm(file, entry);
            } finally {
                if (armed) {
                    entry.watchers.add(watcher);
                } else if (entry.watchers.isEmpty()) {
                    entries.remove(file);
                }
            }
        }
        if (!armed) {
            watcher.ready();
        }
        return true;
    }

    /** Removes a watcher, unless it has been told already. */
    void remove(int file, Watcher watcher) throws RdmaException {
        try (var _ = lock.hold()) {
            Entry entry = entries.get(file);
            if (entry != null && entry.watchers.remove(watcher) && entry.watchers.isEmpty()) {
                entries.remove(file);
                epoll.forget(file);
            }
        }
    }

    /** Arms a file for an entry; returns false if it is of a kind that is always readable. */
    private boolean arm(int file, Entry entry) throws RdmaException {
        int arming = armings + 1;
        int errno = epoll.arm(file, token(file, arming));
        if (errno == Rdma.EPERM()) {
            return false;
        }
        if (errno != 0) {
            throw errno == Rdma.EBADF() ? Poller.notOpen(file) : Failures.of("epoll_ctl", errno);
        }
        armings = arming;
        entry.arming = arming;
        return true;
    }

    private static long token(int file, int arming) {
        return (long) arming << Integer.SIZE | Integer.toUnsignedLong(file);
    }

    private void run() {
        RdmaException reason = null;
        try {
            int events;
            do {
                events = epoll.await(IDLE_MILLISECONDS);
                report(events);
            } while (events > 0 || !endIfIdle());
            return;
        } catch (RdmaException e) {
            reason = e;
        } finally {
            // Even after an Error, or virtual threads would wait forever.
            if (!ended) {
                fail(reason != null ? reason : new RdmaException("epoll_wait", "files can no longer be watched"));
            }
        }
    }

    private boolean endIfIdle() {
        STARTING.lock();
        lock.lock();
        try {
            if (entries.isEmpty()) {
                end();
            }
            return ended;
        } finally {
            lock.unlock();
            STARTING.unlock();
        }
    }

    private void report(int events) {
        try (var _ = lock.hold()) {
            for (int i = 0; i < events; i++) {
                long token = epoll.token(i);
                int file = (int) token;
                Entry entry = entries.get(file);
                if (entry != null && token == token(file, entry.arming)) {
                    readable.addAll(entry.watchers);
                    entries.remove(file);
                }
            }
        }
        while (!readable.isEmpty()) {
            readable.getLast().ready();
            readable.removeLast();
        }
    }

    private void fail(RdmaException reason) {
        List<Watcher> lost = new ArrayList<>();
        STARTING.lock();
        lock.lock();
        try {
            failure = reason;
            entries.values().forEach(entry -> lost.addAll(entry.watchers));
            lost.addAll(readable);
            entries.clear();
            end();
        } finally {
            lock.unlock();
            STARTING.unlock();
        }
        lost.forEach(watcher -> watcher.failed(reason));
    }

    /** Called with both locks held. */
    private void end() {
        ended = true;
        current = null;
        try {
            epoll.close();
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }
}
