// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for platform and virtual threads. {@link #unlock()} wakes only the first thread that waits. If that is a
 * virtual one and all carriers are busy, the lock stays free, while a platform thread behind it would sleep on. So a
 * platform thread does not rely on being woken. The wait for a condition has no such provision.
 */
public final class MixedThreadsLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    @Override
    public void lock() {
        if (tryLock()) {
            return;
        }
        if (Thread.currentThread().isVirtual()) {
            super.lock();
        } else {
            lockRepeatedly();
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (Thread.currentThread().isVirtual()) {
            super.lockInterruptibly();
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        while (!tryLock() && !tryLock(1, TimeUnit.MILLISECONDS)) {
            continue;
        }
    }

    private void lockRepeatedly() {
        boolean interrupted = false;
        boolean locked = false;
        while (!locked) {
            try {
                locked = tryLock(1, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
