// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.ref.Cleaner;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each object that became unreachable without having been closed, with the stack trace of its creation. Enabled if
 * the system property {@code io.rdmacm.leakDetection} is {@code true}; costs a stack trace per object.
 */
public final class LeakDetector {
    /** Whether leak detection is enabled. */
    public static final boolean ON = Boolean.getBoolean("io.rdmacm.leakDetection");

    private static final Logger LOG = LoggerFactory.getLogger("io.rdmacm.leaks");

    private LeakDetector() {
    }

    /** Holds the cleaner, whose thread is started when the first object is watched. */
    private static final class Holder {
        static final Cleaner CLEANER = Cleaner.create();
    }

    static Throwable place() {
        return ON ? new Throwable("created here") : null;
    }

    /** Watches an object: reports it if it becomes unreachable while its lifetime is open. */
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
