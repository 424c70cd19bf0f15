// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.wait.BlockingCall;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventSource;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.PinnedThreads;

/**
 * Many virtual threads wait for files, on a single carrier; then another virtual thread makes all files readable. If
 * one of them kept the carrier, that thread would never run.
 */
public final class WaitInVirtualThreads {
    private static final Duration LONG = Duration.ofMinutes(4);
    private static final int THREADS = 50;

    private WaitInVirtualThreads() {
    }

    /** Something that waits. */
    @FunctionalInterface
    private interface Wait {
        void run() throws RdmaException, InterruptedException;
    }

    /** Prints what happened. */
    public static void main(String[] args) throws Exception {
        List<Integer> files = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        CountDownLatch woken = new CountDownLatch(3 * THREADS);
        try (PinnedThreads pinned = PinnedThreads.record()) {
            for (int i = 0; i < THREADS; i++) {
                int file = Libc.eventfd();
                files.add(file);
                threads.add(start(woken, () -> new Poller(file).await(LONG.toNanos())));
                EventSource<String> source = new EventSource<>(file, () -> "event");
                threads.add(start(woken, () -> source.awaitNext(event -> true, () -> { }, () -> false,
                        Deadline.after(LONG), event -> event)));
                int signalled = file;
                // eventfd_read would wait in C
                threads.add(start(woken, () -> BlockingCall.of(() -> poll(signalled))));
            }
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                    Thread.yield();
                }
            }
            Thread.ofVirtual().start(() -> {
                for (int file : files) {
                    signal(file);
                }
            });
            boolean all = woken.await(LONG.toSeconds(), TimeUnit.SECONDS);
            System.out.println(all ? "all were woken" : woken.getCount() + " were not woken");
            System.out.println("pinned: " + pinned.count());
        }
    }

    /** A function that waits in C for longer than a virtual thread may. */
    private static int poll(int file) throws RdmaException {
        try {
            new Poller(file).await(LONG.toNanos());
            return 0;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Thread start(CountDownLatch woken, Wait wait) {
        return Thread.ofVirtual().start(() -> {
            try {
                wait.run();
                woken.countDown();
            } catch (RdmaException | InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void signal(int file) {
        try {
            Libc.signal(file);
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }
}
