// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.verbs.forked.LockWithBusyCarriers;
import io.rdmacm.verbs.forked.UseBiasedLock;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** One thread at a time inside, and none after a close: under real threads. */
class BiasedLockTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 20_000;

    private final BiasedLock lock = new BiasedLock("CompletionQueue");
    // Plain on purpose: only the lock orders the accesses.
    private long counter;
    private boolean freed;

    private void count() {
        Bias bias = lock.enter();
        try {
            counter++;
        } finally {
            lock.leave(bias);
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

        lock.close();
        assertThat(counter).isEqualTo((long) THREADS * ROUNDS);
    }

    @Test
    void whoIsAloneInsideIsRefusedInsteadOfWaitingForItself() throws Exception {
        Background.run(() -> {
            Bias bias = lock.enterAlone();
            for (ThrowingCallable call : List.<ThrowingCallable>of(lock::enter, lock::enterAlone, lock::awaitQuiet,
                    lock::close)) {
                assertThatIllegalStateException().isThrownBy(call)
                        .withMessage("CompletionQueue is already in use by this thread");
            }
            lock.leave(bias);
            count();
            lock.close();
        }).result();

        assertThat(counter).isEqualTo(1);
        assertThatIllegalStateException().isThrownBy(lock::enterAlone).withMessage("CompletionQueue is closed");
    }

    @Test
    void othersWaitForTheOneThatIsAloneInside() throws Exception {
        Bias bias = lock.enterAlone();
        try (Background<Void> other = Background.run(this::count)) {
            other.awaitInside(MixedThreadsLock.class, "lock");
            assertThat(counter).isZero();
            lock.leave(bias);
            other.result();
        }
        assertThat(counter).isEqualTo(1);
    }

    @Test
    void nobodyIsInsideAfterAClose() throws Exception {
        for (int round = 0; round < 300; round++) {
            BiasedLock closing = new BiasedLock("QueuePair");
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
                lock.close();
                gone.setOpaque(true);
                for (int i = 0; i < 50; i++) {
                    Thread.onSpinWait();
                }
                gone.setOpaque(false);
                lock.reopen(null);
            }
            stop.set(true);
            assertThat(user.result()).describedAs("times inside after a close").isZero();
        }
    }

    private long useUntilStopped(AtomicInteger entries, AtomicBoolean gone, AtomicBoolean stop) {
        long violations = 0;
        while (!stop.getOpaque()) {
            try {
                Bias bias = lock.enter();
                for (int i = 0; i < 200; i++) {
                    violations += gone.getOpaque() ? 1 : 0;
                }
                lock.leave(bias);
                entries.setOpaque(entries.getPlain() + 1);
            } catch (IllegalStateException e) {
                Thread.onSpinWait();
            }
        }
        return violations;
    }

    private void useUntilClosed(BiasedLock closing, CountDownLatch inside) {
        while (true) {
            Bias bias;
            try {
                bias = closing.enter();
            } catch (IllegalStateException e) {
                return;
            }
            try {
                assertThat(freed).isFalse();
                inside.countDown();
            } finally {
                closing.leave(bias);
            }
        }
    }

    @Test
    void closeWaitsForTheThreadInside() throws Exception {
        Bias bias = lock.enter();
        try (Background<Void> closer = Background.run(lock::close)) {
            closer.awaitInside(BiasedLock.class, "awaitOutside");
            assertThat(closer.isDone()).isFalse();

            lock.leave(bias);

            closer.result();
        }
    }

    /** Coming back, it only sets its mark. */
    @Test
    void closeWaitsForTheThreadThatHasComeBack() throws Exception {
        count();
        Bias bias = lock.enter();
        try (Background<Void> closer = Background.run(lock::close)) {
            closer.awaitInside(BiasedLock.class, "awaitOutside");
            lock.leave(bias);
            closer.result();
        }
    }

    @Test
    void closeWaitsForTheThreadThatHasTakenOverAndComeBack() throws Exception {
        count();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (Background<Void> second = Background.run(() -> {
            count();
            Bias bias = lock.enter();
            inside.countDown();
            leave.await();
            lock.leave(bias);
        }); Background<Void> closer = Background.run(() -> {
            inside.await();
            lock.close();
        })) {
            closer.awaitInside(BiasedLock.class, "awaitOutside");
            leave.countDown();
            closer.result();
            second.result();
        }
        assertThat(counter).isEqualTo(2);
    }

    @Test
    void anotherThreadWaitsForTheThreadInsideAndTakesOver() throws Exception {
        Bias bias = lock.enter();
        try (Background<Void> other = Background.run(this::count)) {
            other.awaitInside(BiasedLock.class, "awaitOutside");
            assertThat(counter).isZero();

            lock.leave(bias);

            other.result();
        }
        assertThat(counter).isEqualTo(1);
        // and back again
        count();
        assertThat(counter).isEqualTo(2);
        assertThat(lock.isShared()).isFalse();
    }

    @Test
    void nobodyComesInBesideTheOwnerAfterABarrierThatFailed() throws Exception {
        for (ThrowingCallable revoker : List.<ThrowingCallable>of(lock::enter, lock::enterAlone, lock::tryEnterAlone,
                lock::awaitQuiet, lock::close, () -> lock.closeAndDestroy(() -> { }))) {
            Bias bias = lock.enter();
            Error error = new StackOverflowError("for a test");
            assertThat(Background.call(() -> thrownAtTheBarrier(revoker, error)).result()).isSameAs(error);

            assertThat(Background.call(lock::tryEnterAlone).result()).as("inside beside the owner").isFalse();
            lock.leave(bias);
            assertThat(Background.call(() -> lock.tryEnterAlone() && leaveAlone()).result()).isTrue();
        }
        count();
        lock.close();
    }

    private boolean leaveAlone() {
        lock.leave(null);
        return true;
    }

    private static Throwable thrownAtTheBarrier(ThrowingCallable revoker, Error error) {
        Thread me = Thread.currentThread();
        Lifetime.eachStep = () -> {
            if (Thread.currentThread() == me) {
                throw error;
            }
        };
        try {
            return catchThrowable(revoker);
        } finally {
            Lifetime.eachStep = () -> { };
        }
    }

    @Test
    void awaitQuietLetsNextUsesIn() throws Exception {
        Bias bias = lock.enter();
        try (Background<Void> waiter = Background.run(lock::awaitQuiet)) {
            waiter.awaitInside(BiasedLock.class, "awaitOutside");
            lock.leave(bias);
            waiter.result();
        }
        count();
        assertThat(counter).isEqualTo(1);
    }

    @Test
    void aQueueThatKeepsChangingHandsIsSharedUnderALock() throws Exception {
        share();

        Bias inside = lock.enter();
        try (Background<Void> other = Background.run(this::count);
                Background<Void> closer = Background.run(lock::close)) {
            other.awaitInside(BiasedLock.class, "enterSlowly").awaitWaiting();
            closer.awaitInside(BiasedLock.class, "close").awaitWaiting();
            assertThat(counter).isZero();

            lock.leave(inside);

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
        for (int i = 0; i < 200 && !lock.isShared(); i++) {
            Background.run(this::count).result();
        }
        assertThat(lock.isShared()).isTrue();
        counter = 0;
    }

    @Test
    void oneThreadNeverSharesWithItself() {
        for (int i = 0; i < 1000; i++) {
            count();
            lock.awaitQuiet();
        }
        assertThat(lock.isShared()).isFalse();
    }

    @Test
    void afterACloseNobodyComesInUntilReopened() throws Exception {
        count();
        lock.close();
        assertThatIllegalStateException().isThrownBy(lock::enter).withMessage("CompletionQueue is closed");
        assertThatIllegalStateException().isThrownBy(() -> Background.run(this::count).result());

        lock.reopen(null);

        count();
        assertThat(counter).isEqualTo(2);
    }

    @Test
    void aSharedQueueIsRefusedAfterCloseToo() throws Exception {
        share();
        lock.close();

        assertThatIllegalStateException().isThrownBy(lock::enter).withMessage("CompletionQueue is closed");
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

    /** For platform threads: virtual ones may have to wait for a carrier. */
    @Test
    void goesOnWhileAllCarriersAreBusy() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(LockWithBusyCarriers.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1").run();
        assertThat(result.status()).describedAs(result.errors()).isZero();
        assertThat(result.output().lines()).containsExactly("not behind a virtual thread that waits",
                "not behind a virtual thread that has yielded");
    }

    private static String use(String membarrier) throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(UseBiasedLock.class).nativeAccess().run(membarrier);
        assertThat(result.status()).describedAs(result.errors()).isZero();
        return result.output().strip();
    }

    @Test
    void isOpenAgainWhenTheQueueCouldNotBeDestroyed() throws Exception {
        assertThatIllegalStateException().isThrownBy(() -> lock.closeAndDestroy(() -> {
            throw new IllegalStateException("no");
        })).withMessage("no");
        count();

        lock.closeAndDestroy(() -> freed = true);

        assertThat(counter).isEqualTo(1);
        assertThat(freed).isTrue();
        assertThatIllegalStateException().isThrownBy(lock::enter).withMessage("CompletionQueue is closed");
    }
}
