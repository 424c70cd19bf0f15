// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Memory that is free but still held by the garbage collector and the C allocator, where it would hide a leak. */
final class FreeMemory {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private FreeMemory() {
    }

    /** Collects garbage, frees the native memory of collected objects, and returns free memory to the system. */
    static void giveBack() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            CountDownLatch cleaned = new CountDownLatch(1);
            CLEANER.register(new Object(), cleaned::countDown);
            System.gc();
            // by now the other cleaners have run, too
            boolean ignored = cleaned.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }
        Malloc.trim();
    }
}
