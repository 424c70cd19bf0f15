// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.FakeQueues.Peer;
import io.rdmacm.verbs.internal.wait.FakeQueues.Queue;
import io.rdmacm.verbs.testing.Interleavings;
import org.junit.jupiter.api.Test;

/** Threads that wait for a source in any order of their steps: nobody is left asleep, and no wait ends for nothing. */
class WaitInterleavingTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(2);

    private static boolean await(FakeQueues source, Peer peer, int count, Duration timeout)
            throws RdmaException, InterruptedException {
        long start = System.nanoTime();
        source.lock.lockInterruptibly();
        try {
            return source.wait.await(peer, Peer::hasArrived, count, timeout, 0);
        } finally {
            source.lock.unlock();
            // Whoever sleeps too long finds what it waits for at its deadline.
            assertThat(System.nanoTime() - start).as("slept").isLessThan(HOUR.toNanos() / 2);
        }
    }

    private static void receive(FakeQueues source, Peer peer, int count) throws RdmaException, InterruptedException {
        assertThat(await(source, peer, count, HOUR)).as("in time").isTrue();
    }

    /** Waits for a completion like a thread that somebody interrupts; returns whether it was. */
    private static boolean receiveUnlessInterrupted(FakeQueues source, Peer peer) throws RdmaException {
        try {
            receive(source, peer, 1);
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    private static void locked(FakeQueues source, Interleavings.Action action) throws Exception {
        source.lock.lock();
        try {
            action.run();
        } finally {
            source.lock.unlock();
        }
    }

    /** What a program with an event loop of its own does until there are completions for a peer. */
    private static void runLoop(FakeQueues source, Peer peer, int count) throws RdmaException, InterruptedException {
        while (true) {
            source.lock.lock();
            boolean asleep;
            try {
                peer.handled = true;
                source.wait.loopAwake();
                source.wait.loopTold();
                boolean ignored = source.poll();
                if (peer.hasArrived(count)) {
                    return;
                }
                asleep = source.wait.armLoop();
            } finally {
                source.lock.unlock();
            }
            if (asleep) {
                source.loop.awaitReadable();
            }
        }
    }

    @Test
    void aThreadThatWaitsAlone() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer peer = new Peer();
            Queue queue = source.add();
            threads.start("receiver", () -> receive(source, peer, 2));
            queue.complete(peer);
            queue.complete(peer);
        });
    }

    @Test
    void aLeaderThatHasItsOwnLeavesTheOthersToAFollower() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            threads.start("one", () -> receive(source, one, 1));
            threads.start("other", () -> receive(source, other, 1));
            queue.complete(one);
            queue.complete(other);
        });
    }

    @Test
    void threeThreadsOfWhichTwoWaitForTheSame() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.callsHandlers = true;
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            threads.start("one", () -> receive(source, one, 1));
            threads.start("other", () -> receive(source, other, 1));
            threads.start("other too", () -> receive(source, other, 2));
            queue.complete(other);
            queue.complete(other);
            queue.complete(one);
        });
    }

    @Test
    void aQueueThatIsMadeWhileALeaderSleeps() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Queue first = source.add();
            threads.start("one", () -> receive(source, one, 1));
            Thread follower = threads.start("other", () -> receive(source, other, 1));
            source.add().complete(other);
            threads.join(follower);
            first.complete(one);
        });
    }

    @Test
    void aQueueThatIsMadeWhileTheLoopOfTheProgramSleeps() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.wait.attach(source.loop);
            Peer peer = new Peer();
            source.add();
            threads.start("loop", () -> runLoop(source, peer, 1));
            source.add().complete(peer);
        });
    }

    @Test
    void theLoopOfTheProgramBesideAThreadThatTakesItsEvent() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.wait.attach(source.loop);
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            threads.start("loop", () -> runLoop(source, other, 1));
            Thread receiver = threads.start("receiver", () -> receive(source, one, 1));
            queue.complete(one);
            threads.join(receiver);
            queue.complete(other);
        });
    }

    @Test
    void aThreadBesideTheLoopThatTakesItsEvent() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.wait.attach(source.loop);
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            Thread loop = threads.start("loop", () -> runLoop(source, one, 1));
            threads.start("receiver", () -> receive(source, other, 1));
            queue.complete(one);
            threads.join(loop);
            queue.complete(other);
        });
    }

    @Test
    void theLoopIsToldOfWhatIsNoCompletion() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.wait.attach(source.loop);
            Peer peer = new Peer();
            source.add();
            threads.start("loop", () -> runLoop(source, peer, 1));
            locked(source, () -> {
                peer.arrived++;
                source.wait.tellLoop();
            });
        });
    }

    @Test
    void anInterruptedLeaderOrFollowerLeavesTheOthersAwake() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            Thread interrupted = threads.start("interrupted",
                    () -> assertThat(receiveUnlessInterrupted(source, one)).isTrue());
            threads.start("other", () -> receive(source, other, 1));
            interrupted.interrupt();
            threads.join(interrupted);
            queue.complete(other);
        });
    }

    /** To park does not clear an interrupt: without a look at it, it would poll until its goal is reached. */
    @Test
    void anInterruptedFollowerGivesUp() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer other = new Peer();
            Queue queue = source.add();
            threads.start("leader", () -> receive(source, other, 1));
            source.platform.awaitSleep();
            locked(source, () -> {
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(
                        () -> source.wait.await(new Peer(), Peer::hasArrived, 1, HOUR, 0));
            });
            queue.complete(other);
        });
    }

    @Test
    void anInterruptLosesNoCompletion() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer peer = new Peer();
            Queue queue = source.add();
            Thread interrupted = threads.start("interrupted", () -> {
                if (receiveUnlessInterrupted(source, peer)) {
                    receive(source, peer, 1);
                }
            });
            threads.start("other", () -> receive(source, peer, 1));
            interrupted.interrupt();
            queue.complete(peer);
        });
    }

    @Test
    void aDeadlineThatPassesLeavesTheOthersAwake() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            Thread brief = threads.start("brief", () -> assertThat(await(source, one, 1, SHORT)).isFalse());
            threads.start("other", () -> receive(source, other, 1));
            threads.join(brief);
            queue.complete(other);
        });
    }

    @Test
    void theEndOfASubjectIsToldToAllThatWaitForIt() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer ended = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            threads.start("other", () -> receive(source, other, 1));
            List<Thread> waiting = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                waiting.add(threads.start("ended " + i, () -> assertThatExceptionOfType(RdmaClosedException.class)
                        .isThrownBy(() -> receive(source, ended, 1))));
            }
            locked(source, () -> {
                ended.ended = true;
                source.wait.wake(ended);
            });
            // Before anything else happens that might wake them.
            for (Thread thread : waiting) {
                threads.join(thread);
            }
            queue.complete(other);
        });
    }

    @Test
    void aFailureOfTheSourceIsToldToAllThatWait() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Queue queue = source.add();
            Peer peer = new Peer();
            for (int i = 0; i < 3; i++) {
                threads.start("receiver " + i, () -> assertThatExceptionOfType(RdmaException.class)
                        .isThrownBy(() -> receive(source, new Peer(), 1)));
            }
            locked(source, () -> source.failure = new RdmaException("test", "the device has failed"));
            queue.complete(peer);
        });
    }

    @Test
    void aCloseEndsAllWaitsAndTheirSleeps() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Queue queue = source.add();
            Peer one = new Peer();
            Peer other = new Peer();
            threads.start("one", () -> assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> receive(source, one, 2)));
            threads.start("other", () -> assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> receive(source, other, 1)));
            queue.complete(one);
            locked(source, source.wait::close);
        });
    }

    @Test
    void aCloseEndsASleepThatAnInterruptEnds() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.add();
            Thread interrupted = threads.start("interrupted", () -> {
                try {
                    assertThat(receiveUnlessInterrupted(source, new Peer())).isTrue();
                } catch (RdmaClosedException e) {
                    // the close was first
                }
            });
            threads.start("closer", () -> locked(source, source.wait::close));
            interrupted.interrupt();
            locked(source, source.wait::close);
        });
    }

    @Test
    void platformAndVirtualThreadsBesideEachOther() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Peer third = new Peer();
            Queue queue = source.add();
            threads.startVirtual("one", () -> receive(source, one, 1));
            threads.start("other", () -> receive(source, other, 1));
            threads.startVirtual("third", () -> receive(source, third, 1));
            queue.complete(one);
            queue.complete(other);
            queue.complete(third);
        });
    }

    @Test
    void aPlatformThreadDoesNotDependOnAVirtualOneThatHasNoCarrier() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            Peer one = new Peer();
            Peer other = new Peer();
            Queue queue = source.add();
            source.virtual.stuck(true);
            threads.startVirtual("one", () -> receive(source, one, 1));
            Thread platform = threads.start("other", () -> receive(source, other, 2));
            queue.complete(other);
            queue.complete(other);
            threads.join(platform);
            source.virtual.stuck(false);
            queue.complete(one);
        });
    }

    @Test
    void aCloseDoesNotDependOnAVirtualThreadThatHasNoCarrier() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.add();
            source.virtual.stuck(true);
            threads.startVirtual("one", () -> assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> receive(source, new Peer(), 1)));
            locked(source, source.wait::close);
            source.virtual.stuck(false);
        });
    }

    @Test
    void aDeadlinePassesAlsoWhileThereIsAlwaysSomethingForOthers() throws Exception {
        Interleavings.explore(threads -> {
            FakeQueues source = new FakeQueues();
            source.busy = true;
            assertThat(await(source, new Peer(), 1, SHORT)).isFalse();
        });
    }
}
