// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.forked.UseGuard;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** One thread at a time inside, and none after a close: under real threads. */
class QueueGuardTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 20_000;

    private final QueueGuard guard = new QueueGuard("CompletionQueue");
    // Plain on purpose: only the guard orders the accesses.
    private long counter;
    private boolean freed;

    private void count() {
        QueueClaim claim = guard.enter();
        try {
            counter++;
        } finally {
            guard.leave(claim);
        }
    }

    @Test
    void onlyOneThreadAtATimeIsInside() throws Exception {
        List<Background<Void>> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            threads.add(Background.run(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    count();
                }
            }));
        }
        for (Background<Void> thread : threads) {
            thread.result();
        }

        guard.close();
        assertThat(counter).isEqualTo((long) THREADS * ROUNDS);
    }

    @Test
    void whoIsAloneInsideIsRefusedInsteadOfWaitingForItself() throws Exception {
        Background.run(() -> {
            QueueClaim claim = guard.enterAlone();
            for (ThrowingCallable call : List.<ThrowingCallable>of(guard::enter, guard::enterAlone, guard::awaitQuiet,
                    guard::close)) {
                assertThatIllegalStateException().isThrownBy(call)
                        .withMessage("CompletionQueue is in use by this very thread");
            }
            guard.leave(claim);
            count();
            guard.close();
        }).result();

        assertThat(counter).isEqualTo(1);
        assertThatIllegalStateException().isThrownBy(guard::enterAlone).withMessage("CompletionQueue is closed");
    }

    @Test
    void othersWaitForTheOneThatIsAloneInside() throws Exception {
        QueueClaim claim = guard.enterAlone();
        try (Background<Void> other = Background.run(this::count)) {
            other.awaitInside(ReentrantLock.class, "lock");
            assertThat(counter).isZero();
            guard.leave(claim);
            other.result();
        }
        assertThat(counter).isEqualTo(1);
    }

    @Test
    void nobodyIsInsideAfterAClose() throws Exception {
        for (int round = 0; round < 300; round++) {
            QueueGuard closing = new QueueGuard("QueuePair");
            freed = false;
            CountDownLatch inside = new CountDownLatch(1);
            try (Background<Void> user = Background.run(() -> useUntilClosed(closing, inside))) {
                inside.await();
                closing.close();
                freed = true;
                user.result();
            }
        }
    }

    /**
     * The race that the barrier is for: the mark of a thread that goes in is still on its way to memory when the closer
     * looks for it.
     */
    @Test
    void aMarkOnItsWayToMemoryIsSeen() throws Exception {
        AtomicInteger entries = new AtomicInteger();
        AtomicBoolean gone = new AtomicBoolean();
        AtomicBoolean stop = new AtomicBoolean();
        try (Background<Long> user = Background.call(() -> useUntilStopped(entries, gone, stop))) {
            long start = System.nanoTime();
            for (int round = 0; round < 20_000 && System.nanoTime() - start < 1_000_000_000L; round++) {
                int before = entries.get();
                while (entries.get() - before < 3 && !user.isDone()) {
                    Thread.onSpinWait();
                }
                guard.close();
                gone.setOpaque(true);
                for (int i = 0; i < 50; i++) {
                    Thread.onSpinWait();
                }
                gone.setOpaque(false);
                guard.reopen();
            }
            stop.set(true);
            assertThat(user.result()).describedAs("times inside after a close").isZero();
        }
    }

    private long useUntilStopped(AtomicInteger entries, AtomicBoolean gone, AtomicBoolean stop) {
        long violations = 0;
        while (!stop.getOpaque()) {
            try {
                QueueClaim claim = guard.enter();
                for (int i = 0; i < 200; i++) {
                    violations += gone.getOpaque() ? 1 : 0;
                }
                guard.leave(claim);
                entries.setOpaque(entries.getPlain() + 1);
            } catch (IllegalStateException e) {
                Thread.onSpinWait();
            }
        }
        return violations;
    }

    private void useUntilClosed(QueueGuard closing, CountDownLatch inside) {
        while (true) {
            QueueClaim claim;
            try {
                claim = closing.enter();
            } catch (IllegalStateException e) {
                return;
            }
            try {
                assertThat(freed).isFalse();
                inside.countDown();
            } finally {
                closing.leave(claim);
            }
        }
    }

    @Test
    void closeWaitsForTheThreadInside() throws Exception {
        QueueClaim claim = guard.enter();
        try (Background<Void> closer = Background.run(guard::close)) {
            closer.awaitInside(QueueGuard.class, "revoke");
            assertThat(closer.isDone()).isFalse();

            guard.leave(claim);

            closer.result();
        }
    }

    @Test
    void anotherThreadWaitsForTheThreadInsideAndTakesOver() throws Exception {
        QueueClaim claim = guard.enter();
        try (Background<Void> other = Background.run(this::count)) {
            other.awaitInside(QueueGuard.class, "revoke");
            assertThat(counter).isZero();

            guard.leave(claim);

            other.result();
        }
        assertThat(counter).isEqualTo(1);
        // and back again
        count();
        assertThat(counter).isEqualTo(2);
        assertThat(guard.isShared()).isFalse();
    }

    @Test
    void awaitQuietLetsNextUsesIn() throws Exception {
        QueueClaim claim = guard.enter();
        try (Background<Void> waiter = Background.run(guard::awaitQuiet)) {
            waiter.awaitInside(QueueGuard.class, "revoke");
            guard.leave(claim);
            waiter.result();
        }
        count();
        assertThat(counter).isEqualTo(1);
    }

    @Test
    void aQueueThatKeepsChangingHandsIsSharedUnderALock() throws Exception {
        share();

        QueueClaim inside = guard.enter();
        try (Background<Void> other = Background.run(this::count);
                Background<Void> closer = Background.run(guard::close)) {
            other.awaitInside(QueueGuard.class, "enterSlowly").awaitWaiting();
            closer.awaitInside(QueueGuard.class, "close").awaitWaiting();
            assertThat(counter).isZero();

            guard.leave(inside);

            closer.result();
            // It either got in before the closer or found the queue closed.
            try {
                other.result();
                assertThat(counter).isEqualTo(1);
            } catch (IllegalStateException e) {
                assertThat(counter).isZero();
            }
        }
    }

    private void share() throws Exception {
        for (int i = 0; i < 200 && !guard.isShared(); i++) {
            Background.run(this::count).result();
        }
        assertThat(guard.isShared()).isTrue();
        counter = 0;
    }

    @Test
    void oneThreadNeverSharesWithItself() {
        for (int i = 0; i < 1000; i++) {
            count();
            guard.awaitQuiet();
        }
        assertThat(guard.isShared()).isFalse();
    }

    @Test
    void afterACloseNobodyComesInUntilReopened() throws Exception {
        count();
        guard.close();
        assertThatIllegalStateException().isThrownBy(guard::enter).withMessage("CompletionQueue is closed");
        assertThatIllegalStateException().isThrownBy(() -> Background.run(this::count).result());

        guard.reopen();

        count();
        assertThat(counter).isEqualTo(2);
    }

    @Test
    void aSharedQueueIsRefusedAfterCloseToo() throws Exception {
        share();
        guard.close();

        assertThatIllegalStateException().isThrownBy(guard::enter).withMessage("CompletionQueue is closed");
        // the refusal must not have kept the lock
        assertThatIllegalStateException().isThrownBy(() -> Background.run(this::count).result());
    }

    @Test
    void worksWithoutMembarrierToo() throws IOException, InterruptedException {
        assertThat(use("without")).isEqualTo("asymmetric false, counted 100000, closed");
    }

    @Test
    void usesMembarrierWhereItIs() throws IOException, InterruptedException {
        assertThat(use("with")).isEqualTo("asymmetric " + Membarrier.ASYMMETRIC + ", counted 100000, closed");
        Membarrier.heavy();
    }

    private static String use(String membarrier) throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(UseGuard.class).nativeAccess().run(membarrier);
        assertThat(result.status()).describedAs(result.errors()).isZero();
        return result.output().strip();
    }
}
