// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.util.concurrent.CountDownLatch;

import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.testing.Background;

/** Locks with platform threads, while a virtual thread that wants the lock too cannot run. With a single carrier. */
public final class LockWithBusyCarriers {
    private LockWithBusyCarriers() {
    }

    /** Prints what did not hang. */
    public static void main(String[] arguments) throws Exception {
        BiasedLock waitedFor = new BiasedLock("QueuePair");
        whileTheCarrierIsBusy(waitedFor, waitedFor.enterExclusive());
        System.out.println("not behind a virtual thread that waits");

        BiasedLock revoked = new BiasedLock("QueuePair");
        whileTheCarrierIsBusy(revoked, revoked.enter());
        System.out.println("not behind a virtual thread that has yielded");
    }

    /** Leaves a lock that a virtual and a platform thread wait for, once the carrier does something else. */
    private static void whileTheCarrierIsBusy(BiasedLock lock, Bias inside) throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        Background<Void> virtual = Background.virtual(() -> {
            lock.leave(lock.enter());
            return null;
        });
        virtual.awaitInside(BiasedLock.class, "enterSlowly");
        if (inside == null) {
            virtual.awaitWaiting();
        }
        Background<Void> platform = Background.run(lock::awaitQuiescence);
        platform.awaitInside(BiasedLock.class, "awaitQuiescence");
        if (inside == null) {
            platform.awaitWaiting();
        }
        Background<Void> spinning = Background.virtual(() -> {
            busy.countDown();
            while (!Thread.interrupted()) {
                Thread.onSpinWait();
            }
            return null;
        });
        busy.await();
        lock.leave(inside);
        platform.result();
        spinning.interrupt();
        virtual.result();
        lock.close();
    }
}
