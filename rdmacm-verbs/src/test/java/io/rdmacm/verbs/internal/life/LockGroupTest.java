// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** Whoever was inside when something changed is waited for, whatever lets it in; nobody else is troubled. */
class LockGroupTest {
    private final BiasedLock lock = new BiasedLock("QueuePair");
    private final BiasedLock other = new BiasedLock("QueuePair");
    private final LockGroup group = new LockGroup();

    LockGroupTest() {
        group.add(lock);
        group.add(other);
    }

    private void assertThatTheChangeWaitsFor(Bias inside) throws Exception {
        try (Background<Void> change = Background.run(group::await)) {
            change.awaitInside(BiasedLock.class, "awaitQuiet");
            assertThat(change.isDone()).isFalse();
            lock.leave(inside);
            change.result();
        }
    }

    @Test
    void aThreadWithItsBiasIsWaitedFor() throws Exception {
        assertThatTheChangeWaitsFor(lock.enter());
    }

    @Test
    void aThreadThatIsAloneInsideIsWaitedFor() throws Exception {
        assertThatTheChangeWaitsFor(lock.enterAlone());
    }

    @Test
    void aThreadThatHasLostItsBiasIsWaitedFor() throws Exception {
        Bias inside = lock.enter();
        try (Background<Void> next = Background.run(() -> lock.leave(lock.enter()))) {
            next.awaitInside(BiasedLock.class, "awaitOutside");
            assertThatTheChangeWaitsFor(inside);
            next.result();
        }
    }

    @Test
    void whoIsOutsideKeepsItsBias() throws Exception {
        lock.leave(lock.enter());
        Bias busy = other.enter();
        Background<Void> change = Background.run(group::await);
        change.awaitInside(BiasedLock.class, "awaitQuiet");
        assertThat(lock.isBiasedTo(Thread.currentThread())).isTrue();
        other.leave(busy);
        change.result();
        assertThat(group.changes()).isEqualTo(1);
    }
}
