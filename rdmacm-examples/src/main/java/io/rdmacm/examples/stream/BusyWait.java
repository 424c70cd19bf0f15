// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** The pauses of a thread that tries something again and again. */
final class BusyWait {
    private static final boolean ONE_CPU = Runtime.getRuntime().availableProcessors() == 1;
    // Reading the clock each time would slow down the tests.
    private static final int TRIES = 1 << 10;

    private final Duration timeout;
    private int tries;
    private long start;

    BusyWait(Duration timeout) {
        this.timeout = timeout;
    }

    /** Begins to wait for something else. */
    void reset() {
        tries = 0;
    }

    /** Begins to wait for something else if something was done, otherwise pauses. */
    void pauseUnless(boolean done) throws IOException, InterruptedException {
        if (done) {
            reset();
        } else {
            pause();
        }
    }

    /** Pauses between two tries. */
    void pause() throws IOException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (tries++ == 0) {
            start = System.nanoTime();
        } else if (tries % TRIES == 0 && System.nanoTime() - start > timeout.toNanos()) {
            throw new SocketTimeoutException("the peer did nothing for " + timeout.toSeconds() + " s");
        }
        if (ONE_CPU) {
            // The peer and the kernel need the CPU.
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }
}
