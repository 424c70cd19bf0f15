// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.verbs.internal.wait.MixedThreadsLock;

/** Threads take and release a lock until their stack ends, each in another place. */
public final class LockAtTheEndOfTheStack {
    private static final int SMALL_STACK = 256 << 10;
    private static final int PLACES = 200;

    private LockAtTheEndOfTheStack() {
    }

    /** Fails if a lock is left held. */
    public static void main(String[] arguments) throws InterruptedException {
        for (int i = 0; i < PLACES; i++) {
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
            if (!ended.get() || lock.isLocked()) {
                throw new AssertionError(ended + " " + lock + " after round " + i);
            }
        }
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
