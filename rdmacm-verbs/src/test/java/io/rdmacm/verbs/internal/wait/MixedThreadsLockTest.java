// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

class MixedThreadsLockTest {
    private static final int SMALL_STACK = 256 << 10;

    /** Where the stack ends depends on the compiler, so it ends in many places. */
    @Test
    void theEndOfTheStackLeavesNothingLocked() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            int frames = i;
            MixedThreadsLock lock = new MixedThreadsLock();
            AtomicBoolean ended = new AtomicBoolean();
            Thread thread = new Thread(null, () -> {
                try {
                    descend(frames, lock);
                } catch (StackOverflowError e) {
                    ended.set(true);
                }
            }, "descending", SMALL_STACK);
            thread.start();
            thread.join();
            assertThat(ended).isTrue();
            assertThat(lock.isLocked()).describedAs("locked after round %d", i).isFalse();
        }
    }

    /** As where the stack has ended in an unlock. */
    @Test
    void whatACallOfTheProgramLeavesLockedIsGivenUp() {
        MixedThreadsLock lock = new MixedThreadsLock();
        lock.lock();
        int holds = lock.release();
        assertThat(lock.isLocked()).isFalse();
        lock.lock();
        lock.lock();
        lock.retake(holds);
        assertThat(lock.getHoldCount()).isEqualTo(1);
    }

    private static int descend(int frames, MixedThreadsLock lock) {
        return frames == 0 ? lockAndDescend(lock) : descend(frames - 1, lock) + 1;
    }

    private static int lockAndDescend(MixedThreadsLock lock) {
        int holds;
        try (var _ = lock.hold()) {
            holds = lock.getHoldCount();
        }
        return lockAndDescend(lock) + holds;
    }
}
