// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.internal.wait.FakeSource.Inbox;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** The invariants of waiting, over a queue in plain Java. */
class WaitTest {
    private static final Deadline LONG = Deadline.after(Duration.ofDays(1));

    private final FakeSource source = new FakeSource();
    private final Inbox mine = new Inbox();
    private final Inbox other = new Inbox();

    private Background<Boolean> waiting(Inbox inbox) {
        return Background.call(() -> source.await(inbox, inbox.count + 1, LONG));
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
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            source.arrive(other);
            assertThat(follower.result()).isTrue();
            assertThat(leader.isDone()).isFalse();
            source.arrive(mine);
            assertThat(leader.result()).isTrue();
        }
    }

    @Test
    void aFollowerTakesThePlaceOfALeaderThatLeaves() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            source.arrive(mine);
            assertThat(leader.result()).isTrue();
            follower.awaitInside(FakeSource.FileSleep.class, "await");
            source.arrive(other);
            assertThat(follower.result()).isTrue();
        }
    }

    @Test
    void anInterruptedLeaderHandsOver() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            leader.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(leader::result);
            follower.awaitInside(FakeSource.FileSleep.class, "await");
            source.arrive(other);
            assertThat(follower.result()).isTrue();
        }
    }

    @Test
    void anotherThreadThatPollsWakesTheLeaderForItsOwn() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await")) {
            locked(() -> {
                mine.count++;
                source.wait.wake(mine);
            });
            assertThat(leader.result()).isTrue();
        }
    }

    @Test
    void aPlatformThreadDoesNotFollowAVirtualLeader() throws Exception {
        try (Background<Boolean> virtual = Background.virtual(() -> source.await(mine, 1, LONG))
                .awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> platform = waiting(other).awaitInside(FakeSource.FileSleep.class, "await")) {
            source.arrive(other);
            assertThat(platform.result()).isTrue();
            // the platform thread has taken the event, and the source is armed again nevertheless
            source.arrive(mine);
            assertThat(virtual.result()).isTrue();
        }
    }

    @Test
    void aVirtualThreadFollowsAPlatformLeader() throws Exception {
        try (Background<Boolean> platform = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> virtual = Background.virtual(() -> source.await(other, 1, LONG))
                        .awaitInside(Wait.class, "follow")) {
            source.arrive(other);
            assertThat(virtual.result()).isTrue();
            assertThat(platform.isDone()).isFalse();
            source.arrive(mine);
            assertThat(platform.result()).isTrue();
        }
    }

    @Test
    void aSourceThatGrowsIsArmedAgainByWhoSleepsOnIt() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await")) {
            assertThat(source.takeEvents()).isFalse();
            locked(source.wait::rearm);
            source.arrive(mine);
            assertThat(leader.result()).isTrue();
        }
    }

    @Test
    void theEndOfASubjectEndsItsWaits() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> follower = waiting(mine).awaitInside(Wait.class, "follow").awaitWaiting()) {
            locked(() -> {
                mine.end = new IllegalStateException("gone");
                source.wait.wake(mine);
            });
            assertThatIllegalStateException().isThrownBy(leader::result).withMessage("gone");
            assertThatIllegalStateException().isThrownBy(follower::result).withMessage("gone");
        }
    }

    @Test
    void aCloseEndsAllWaits() throws Exception {
        try (Background<Boolean> leader = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await");
                Background<Boolean> follower = waiting(other).awaitInside(Wait.class, "follow").awaitWaiting()) {
            locked(source.wait::close);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(leader::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(follower::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> source.await(mine, 9, LONG));
        }
    }

    @Test
    void aTimeoutOfZeroPollsOnce() throws Exception {
        source.arrive(mine);
        assertThat(source.await(mine, 1, Deadline.after(Duration.ZERO))).isTrue();
        assertThat(source.await(mine, 2, Deadline.after(Duration.ZERO))).isFalse();
    }

    @Test
    void aStreamOfArrivalsForOthersDoesNotHoldUpADeadline() throws Exception {
        Wait.Source endless = new Wait.Source() {
            @Override
            public boolean poll() {
                return true;
            }

            @Override
            public boolean arm() {
                return true;
            }

            @Override
            public boolean takeEvents() {
                return true;
            }
        };
        Wait wait = new Wait(source.lock, endless, source.new FileSleep(), source.new FileSleep());
        locked(() -> assertThat(wait.await(mine, (inbox, none) -> false, 0, Duration.ofMillis(1), 0)).isFalse());
    }

    /** An event loop outside that sleeps until the file is readable or it is woken. */
    private static final class FakeLoop implements Wait.Loop {
        private boolean woken;

        @Override
        public void wake() {
            woken = true;
        }

        @Override
        public void reset() {
            woken = false;
        }
    }

    @Test
    void aThreadThatTakesTheEventOfALoopTellsIt() throws Exception {
        FakeLoop loop = new FakeLoop();
        locked(() -> {
            source.wait.attach(loop);
            assertThat(source.wait.armLoop()).isTrue();
        });
        try (Background<Boolean> beside = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await")) {
            source.arrive(mine);
            assertThat(beside.result()).isTrue();
        }
        locked(() -> {
            assertThat(loop.woken).as("the source is not armed any more").isTrue();
            assertThat(source.isReadable()).isFalse();
            assertThat(source.wait.armLoop()).isTrue();
            assertThat(loop.woken).isFalse();
            source.arrive(other);
            assertThat(source.isReadable()).isTrue();
        });
    }

    @Test
    void aLoopThatTakesTheEventOfAThreadTellsIt() throws Exception {
        FakeLoop loop = new FakeLoop();
        locked(() -> {
            source.wait.attach(loop);
            assertThat(source.wait.armLoop()).isTrue();
        });
        try (Background<Boolean> beside = waiting(mine).awaitInside(FakeSource.FileSleep.class, "await")) {
            locked(() -> {
                source.arrive(other);
                source.wait.loopAwake();
            });
            // what the loop does not poll, and what arrives from now on
            source.arrive(mine);
            assertThat(beside.result()).isTrue();
        }
    }

    @Test
    void aLoopIsToldOfWhatHappensWhileItSleepsOrIsAboutTo() throws Exception {
        FakeLoop loop = new FakeLoop();
        locked(() -> {
            source.wait.attach(loop);
            source.wait.tellLoop();
            assertThat(source.wait.armLoop()).as("something has happened").isFalse();
            assertThat(source.wait.armLoop()).isTrue();
            source.wait.tellLoop();
            assertThat(loop.woken).isTrue();
            source.wait.loopAwake();
            source.wait.loopTold();
            assertThat(source.wait.armLoop()).isTrue();
        });
    }
}
