// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.lang.foreign.Linker;
import java.lang.reflect.Field;

import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;

/** Counts under a lock with two threads, closes it, and prints which kind of barrier served. */
public final class UseBiasedLock {
    private static final int ROUNDS = 50_000;
    private static final BiasedLock LOCK = new BiasedLock("QueuePair");

    private static long counter;

    private UseBiasedLock() {
    }

    /** The argument {@code without} hides membarrier(2), by an architecture whose number of it is not known. */
    public static void main(String[] arguments) throws Exception {
        Linker.nativeLinker();
        if (arguments[0].equals("without")) {
            System.setProperty("os.arch", "unheard-of");
        }
        Thread other = new Thread(UseBiasedLock::count);
        other.start();
        count();
        other.join();
        LOCK.close();
        Field asymmetric = Class.forName("io.rdmacm.verbs.internal.life.Membarrier").getDeclaredField("ASYMMETRIC");
        asymmetric.setAccessible(true);
        System.out.println("asymmetric " + asymmetric.get(null) + ", counted " + counter + ", " + entered());
    }

    private static void count() {
        for (int i = 0; i < ROUNDS; i++) {
            Bias bias = LOCK.enter();
            counter++;
            LOCK.leave(bias);
        }
    }

    private static String entered() {
        try {
            LOCK.enter();
            return "still open";
        } catch (IllegalStateException e) {
            return "closed";
        }
    }
}
