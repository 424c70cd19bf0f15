// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.FakeQueues.LoopFile;
import io.rdmacm.verbs.internal.wait.FakeQueues.Peer;
import io.rdmacm.verbs.internal.wait.FakeQueues.Queue;
import io.rdmacm.verbs.internal.wait.FakeQueues.Sleep;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** The invariants of waiting, over a queue in plain Java. */
class WaitTest {
    private static final Deadline LONG = Deadline.after(Duration.ofDays(1));

    private final FakeQueues source = new FakeQueues();
    private final Queue queue = source.add();
    private final Peer mine = new Peer();
    private final Peer other = new Peer();

    private boolean await(Peer peer, int count, Deadline deadline) throws RdmaException, InterruptedException {
        source.lock.lock();
        try {
            return source.wait.await(peer, Peer::hasArrived, count, deadline, 0);
        } finally {
            source.lock.unlock();
        }
    }

    private Background<Boolean> waiting(Peer peer) {
        return Background.call(() -> await(peer, peer.arrived + 1, LONG));
    }

    private void locked(Background.Action action) throws Exception {
        source.lock.lock();
        try {
            action.run();
        } finally {
            source.lock.unlock();
        }
    }

    @Test
    void aLeaderTakesWhatArrivesForAFollower() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            queue.complete(other);
            assertThat(follower.result()).isTrue();
            assertThat(leader.isDone()).isFalse();
            queue.complete(mine);
            assertThat(leader.result()).isTrue();
        }
    }

    /** On one CPU, a pause more is two switches between threads that have nothing to do. */
    @Test
    void theTimeToPollBeginsWithTheDeadline() throws Exception {
        assertThat(looksBeforeSleep(1)).isEqualTo(looksBeforeSleep(0));
    }

    private int looksBeforeSleep(long spinNanos) throws Exception {
        Deadline begun = Deadline.after(Duration.ofDays(1));
        AtomicInteger looks = new AtomicInteger();
        Wait.Goal<Peer> goal = (peer, arrived) -> {
            looks.incrementAndGet();
            return peer.arrived > 0;
        };
        try (Background<Boolean> leader = Background.call(() -> {
            source.lock.lock();
            try {
                return source.wait.await(mine, goal, 0, begun, spinNanos);
            } finally {
                source.lock.unlock();
            }
        }).awaitInside(Sleep.class, "await")) {
            int before = looks.get();
            queue.complete(mine);
            assertThat(leader.result()).isTrue();
            mine.arrived = 0;
            return before;
        }
    }

    @Test
    void aFollowerTakesThePlaceOfALeaderThatLeaves() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            queue.complete(mine);
            assertThat(leader.result()).isTrue();
            follower.awaitInside(Sleep.class, "await");
            queue.complete(other);
            assertThat(follower.result()).isTrue();
        }
    }

    @Test
    void anInterruptedLeaderHandsOver() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            leader.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(leader::result);
            follower.awaitInside(Sleep.class, "await");
            queue.complete(other);
            assertThat(follower.result()).isTrue();
        }
    }

    @Test
    void theSourceIsArmedAgainAfterAnEventThatThereWasNoMemoryFor() throws Exception {
        locked(() -> source.outOfMemory = true);
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await")) {
            queue.complete(mine);
            assertThatThrownBy(leader::result).hasCauseInstanceOf(OutOfMemoryError.class);
        }
        try (Background<Boolean> next = Background.call(() -> await(mine, 2, LONG)).awaitInside(Sleep.class, "await")) {
            queue.complete(mine);
            assertThat(next.result()).isTrue();
        }
    }

    @Test
    void anotherThreadThatPollsWakesTheLeaderForItsOwn() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await")) {
            locked(() -> {
                mine.arrived++;
                source.wait.wake(mine);
            });
            assertThat(leader.result()).isTrue();
        }
    }

    @Test
    void aPlatformThreadDoesNotFollowAVirtualLeader() throws Exception {
        try (Background<Boolean> virtual = Background.virtual(() -> await(mine, 1, LONG))
                .awaitInside(Sleep.class, "await");
                Background<Boolean> platform = waiting(other).awaitInside(Sleep.class, "await")) {
            queue.complete(other);
            assertThat(platform.result()).isTrue();
            // the platform thread has taken the event, and the source is armed again nevertheless
            queue.complete(mine);
            assertThat(virtual.result()).isTrue();
        }
    }

    @Test
    void aVirtualThreadFollowsAPlatformLeader() throws Exception {
        try (Background<Boolean> platform = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> virtual = Background.virtual(() -> await(other, 1, LONG))
                        .awaitInside(Wait.class, "follow")) {
            queue.complete(other);
            assertThat(virtual.result()).isTrue();
            assertThat(platform.isDone()).isFalse();
            queue.complete(mine);
            assertThat(platform.result()).isTrue();
        }
    }

    @Test
    void aSourceThatGrowsIsArmedAgainByWhoSleepsOnIt() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await")) {
            assertThat(source.takeEvents()).isFalse();
            locked(source.wait::rearm);
            queue.complete(mine);
            assertThat(leader.result()).isTrue();
        }
    }

    @Test
    void theEndOfASubjectEndsItsWaits() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> follower = waiting(mine).awaitInside(Wait.class, "follow").awaitWaiting()) {
            locked(() -> {
                mine.ended = true;
                source.wait.wake(mine);
            });
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(leader::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(follower::result);
        }
    }

    @Test
    void aCloseEndsAllWaits() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(Sleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            locked(source.wait::close);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(leader::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(follower::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> await(mine, 9, LONG));
        }
    }

    @Test
    void aTimeoutOfZeroPollsOnce() throws Exception {
        queue.complete(mine);
        assertThat(await(mine, 1, Deadline.after(Duration.ZERO))).isTrue();
        assertThat(await(mine, 2, Deadline.after(Duration.ZERO))).isFalse();
    }

    @Test
    void aStreamOfArrivalsForOthersDoesNotHoldUpADeadline() throws Exception {
        source.busy = true;
        assertThat(await(mine, 1, Deadline.after(Duration.ofMillis(1)))).isFalse();
    }

    @Test
    void aThreadThatTakesTheEventOfALoopTellsIt() throws Exception {
        LoopFile loop = source.loop;
        locked(() -> {
            source.wait.attach(loop);
            assertThat(source.wait.armLoop()).isTrue();
        });
        try (Background<Boolean> beside = waiting(mine).awaitInside(Sleep.class, "await")) {
            queue.complete(mine);
            assertThat(beside.result()).isTrue();
        }
        locked(() -> {
            assertThat(loop.isWoken()).as("the source is not armed any more").isTrue();
            assertThat(source.isReadable()).isFalse();
            assertThat(source.wait.armLoop()).isTrue();
            assertThat(loop.isWoken()).isFalse();
            queue.complete(other);
            assertThat(source.isReadable()).isTrue();
        });
    }

    @Test
    void aLoopThatTakesTheEventOfAThreadTellsIt() throws Exception {
        LoopFile loop = source.loop;
        locked(() -> {
            source.wait.attach(loop);
            assertThat(source.wait.armLoop()).isTrue();
        });
        try (Background<Boolean> beside = waiting(mine).awaitInside(Sleep.class, "await")) {
            locked(() -> {
                queue.complete(other);
                source.wait.loopAwake();
            });
            // what the loop does not poll, and what arrives from now on
            queue.complete(mine);
            assertThat(beside.result()).isTrue();
        }
    }

    @Test
    void aLoopIsToldOfWhatHappensWhileItSleepsOrIsAboutTo() throws Exception {
        LoopFile loop = source.loop;
        locked(() -> {
            source.wait.attach(loop);
            source.wait.tellLoop();
            assertThat(source.wait.armLoop()).as("something has happened").isFalse();
            assertThat(source.wait.armLoop()).isTrue();
            source.wait.tellLoop();
            assertThat(loop.isWoken()).isTrue();
            source.wait.loopAwake();
            source.wait.loopTold();
            assertThat(source.wait.armLoop()).isTrue();
        });
    }
}
