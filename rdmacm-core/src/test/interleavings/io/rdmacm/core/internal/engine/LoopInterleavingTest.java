// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.testing.Interleavings;
import org.junit.jupiter.api.Test;

/** Loops that are driven in all ways at once: each completion reaches whom it is for. */
class LoopInterleavingTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int COMPLETIONS = 8;

    /** Somebody with a queue pair: counts completions, or calls a handler for each. */
    private static final class Peer extends Loop.Member {
        private final Loop loop;
        private final boolean handled;
        int arrived;
        int calls;
        Throwable failure;
        // thrown by the next call of the handler, or when the next completion is taken
        Error error;

        Peer(Loop loop, int number, boolean handled) throws RdmaException {
            this.loop = loop;
            this.handled = handled;
            loop.add(number, this);
        }

        @Override
        protected void completed(WorkCompletions completion) {
            arrived++;
            if (handled) {
                loop.ready(this);
            } else {
                throwError();
            }
        }

        @Override
        protected void callHandlers() {
            while (calls < arrived) {
                calls++;
                loop.lock.unlock();
                try {
                    Interleavings.point();
                    throwError();
                } finally {
                    loop.lock.lock();
                }
            }
            loop.wake(this);
        }

        private void throwError() {
            Error thrown = error;
            error = null;
            if (thrown != null) {
                throw thrown;
            }
        }

        @Override
        protected void failed(Throwable reason) {
            failure = reason;
            loop.wake(this);
        }

        private boolean has(long count) throws RdmaException {
            if (failure != null) {
                throw new RdmaClosedException("test", failure.toString());
            }
            return (handled ? calls : arrived) >= count;
        }

        /** Waits for completions, or calls of the handler. */
        void await(int count) throws RdmaException, InterruptedException {
            long start = System.nanoTime();
            loop.lock.lockInterruptibly();
            try {
                assertThat(loop.await(this, Peer::has, count, HOUR, 0)).as("in time").isTrue();
            } finally {
                loop.lock.unlock();
                assertThat(System.nanoTime() - start).as("waited").isLessThan(HOUR.toNanos() / 2);
            }
        }
    }

    private static Loop open(boolean handlersInAnyThread) throws RdmaException {
        return new Loop(new VerbsContext(), 1024, handlersInAnyThread);
    }

    /** Starts the thread of a loop. */
    private static Thread run(Interleavings threads, Loop loop) {
        return threads.start("loop", () -> loop.run(0));
    }

    private static void stop(Interleavings threads, Loop loop, Thread thread) throws Exception {
        loop.stop();
        threads.join(thread);
        loop.close();
    }

    /** What a program does until handlers of a peer were called. */
    private static void drive(Loop loop, EventFile file, Peer peer, int count)
            throws RdmaException, InterruptedException {
        while (true) {
            int ignored = loop.drive();
            loop.lock.lock();
            try {
                if (peer.calls >= count) {
                    return;
                }
            } finally {
                loop.lock.unlock();
            }
            if (loop.prepareSleep()) {
                file.awaitReadable();
            }
        }
    }

    @Test
    void aQueueThatIsMadeWhileTheThreadOfTheLoopSleeps() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue first = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer one = new Peer(loop, 1, false);
            Thread thread = run(threads, loop);
            CompletionQueue second = loop.reserve(COMPLETIONS, COMPLETIONS);
            assertThat(second).isNotSameAs(first);
            Peer other = new Peer(loop, 2, false);
            Thread waiter = threads.start("waiter", () -> other.await(1));
            threads.start("device", () -> second.complete(2));
            threads.join(waiter);
            first.complete(1);
            one.await(1);
            stop(threads, loop, thread);
        });
    }

    @Test
    void aThreadThatWaitsBeforeTheThreadOfTheLoopHasBegun() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer peer = new Peer(loop, 1, false);
            threads.start("device", () -> queue.complete(1));
            Thread thread = run(threads, loop);
            peer.await(1);
            stop(threads, loop, thread);
        });
    }

    @Test
    void handlersAreCalledByTheThreadOfTheLoopWhoeverTakesTheCompletion() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer plain = new Peer(loop, 1, false);
            Peer handled = new Peer(loop, 2, true);
            Thread thread = run(threads, loop);
            Thread waiter = threads.start("plain", () -> plain.await(1));
            Thread other = threads.start("handled", () -> handled.await(2));
            queue.complete(2);
            queue.complete(1);
            queue.complete(2);
            handled.await(2);
            threads.join(waiter);
            threads.join(other);
            stop(threads, loop, thread);
        });
    }

    @Test
    void aProgramThatDrivesTheLoopBesideAThreadThatWaits() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer plain = new Peer(loop, 1, false);
            Peer handled = new Peer(loop, 2, true);
            int ignored = loop.fd();
            EventFile file = EventFile.last();
            Thread program = threads.start("program", () -> drive(loop, file, handled, 1));
            Thread waiter = threads.start("waiter", () -> plain.await(1));
            queue.complete(1);
            threads.join(waiter);
            queue.complete(2);
            threads.join(program);
            loop.close();
        });
    }

    @Test
    void aThreadThatWaitsBesideAProgramThatDrivesTheLoop() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue first = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer plain = new Peer(loop, 1, false);
            Peer handled = new Peer(loop, 2, true);
            int ignored = loop.fd();
            EventFile file = EventFile.last();
            Thread program = threads.start("program", () -> drive(loop, file, handled, 1));
            Thread waiter = threads.start("waiter", () -> plain.await(1));
            loop.reserve(COMPLETIONS, COMPLETIONS).complete(2);
            threads.join(program);
            first.complete(1);
            threads.join(waiter);
            loop.close();
        });
    }

    /** As for the end of a connection, or for a buffer that was given back. */
    @Test
    void aProgramThatDrivesTheLoopIsToldOfHandlersWithoutACompletion() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            Peer handled = new Peer(loop, 1, true);
            int ignored = loop.fd();
            EventFile file = EventFile.last();
            Thread program = threads.start("program", () -> drive(loop, file, handled, 1));
            file.awaitSleep();
            try (var _ = loop.lock.hold()) {
                handled.completed(null);
            }
            threads.join(program);
            loop.close();
        });
    }

    @Test
    void anyThreadCallsHandlersWhereNobodyDrives() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(true);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer plain = new Peer(loop, 1, false);
            Peer handled = new Peer(loop, 2, true);
            threads.start("plain", () -> plain.await(1));
            threads.start("handled", () -> handled.await(2));
            queue.complete(2);
            queue.complete(2);
            queue.complete(1);
            threads.join();
            loop.close();
        });
    }

    @Test
    void anErrorInAHandlerEndsItsMemberOnly() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer failing = new Peer(loop, 1, true);
            failing.error = new StackOverflowError("in a test");
            Peer other = new Peer(loop, 2, false);
            Thread thread = run(threads, loop);
            Thread failed = threads.start("failing", () -> assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> failing.await(2)));
            Thread waiter = threads.start("other", () -> other.await(1));
            queue.complete(1);
            queue.complete(2);
            threads.join(failed);
            threads.join(waiter);
            other.await(1);
            stop(threads, loop, thread);
        });
    }

    @Test
    void anErrorInACompletionEndsItsMemberOnly() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer failing = new Peer(loop, 1, false);
            failing.error = new StackOverflowError("in a test");
            Peer other = new Peer(loop, 2, false);
            Thread thread = run(threads, loop);
            threads.start("failing", () -> assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> failing.await(2)));
            Thread waiter = threads.start("other", () -> other.await(1));
            queue.complete(1);
            queue.complete(2);
            threads.join(waiter);
            other.await(1);
            stop(threads, loop, thread);
        });
    }

    @Test
    void anEventThatThereIsNoMemoryForIsLookedForAgain() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionChannel.last().runOutOfMemory();
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer peer = new Peer(loop, 1, false);
            Thread thread = run(threads, loop);
            for (int i = 1; i <= 2; i++) {
                int count = i;
                Thread waiter = threads.start("waiter " + i, () -> {
                    try {
                        peer.await(count);
                    } catch (OutOfMemoryError e) {
                        peer.await(count);
                    }
                });
                queue.complete(1);
                threads.join(waiter);
            }
            stop(threads, loop, thread);
        });
    }

    @Test
    void aLoopIsClosedWhileThreadsWait() throws Exception {
        Interleavings.explore(threads -> {
            Loop loop = open(false);
            CompletionQueue queue = loop.reserve(COMPLETIONS, COMPLETIONS);
            Peer peer = new Peer(loop, 1, false);
            Thread thread = run(threads, loop);
            for (int i = 0; i < 2; i++) {
                threads.start("waiter " + i, () -> assertThatExceptionOfType(RdmaClosedException.class)
                        .isThrownBy(() -> peer.await(2)));
            }
            queue.complete(1);
            stop(threads, loop, thread);
        });
    }
}
