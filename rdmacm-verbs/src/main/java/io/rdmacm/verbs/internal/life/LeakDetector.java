// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.ref.Cleaner;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports objects that the garbage collector found lost without a close, once each, with the place of their creation.
 * On when the system property {@code io.rdmacm.leakDetection} is {@code true}: it costs a stack trace an object.
 */
public final class LeakDetector {
    /** Whether leak detection is on. */
    public static final boolean ON = Boolean.getBoolean("io.rdmacm.leakDetection");

    private static final Logger LOG = LoggerFactory.getLogger("io.rdmacm.leaks");

    private LeakDetector() {
    }

    /** Holds the thread that reports; made when the first object is watched. */
    private static final class Holder {
        static final Cleaner CLEANER = Cleaner.create();
    }

    static Throwable place() {
        return ON ? new Throwable("created here") : null;
    }

    /** Watches an object for being lost. */
    public static void watch(Object object, Lifetime life) {
        if (ON) {
            Holder.CLEANER.register(object, () -> report(life));
        }
    }

    private static void report(Lifetime life) {
        if (life.isOpen()) {
            LOG.warn("{} was lost without close()", life, life.placeOfCreation());
        }
    }
}
