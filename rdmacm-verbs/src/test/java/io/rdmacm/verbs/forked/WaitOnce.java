// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.time.Duration;

import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;

/** A virtual thread waits for a file until it is readable. */
public final class WaitOnce {
    private static final Duration LONG = Duration.ofMinutes(10);

    private WaitOnce() {
    }

    /** Returns when the thread has ended. */
    public static void main(String[] arguments) throws Exception {
        int file = Libc.eventfd();
        Poller poller = new Poller(file);
        Background<Void> waiting = Background.virtual(() -> {
            poller.await(LONG.toNanos());
            return null;
        });
        waiting.awaitAsleep();
        Libc.signal(file);
        waiting.result();
        poller.close();
        Libc.close(file);
    }
}
