// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.Locale;

/** How a thread waits for what is to come. */
public enum Polling {
    /** It looks again at once: the fastest way, with a CPU for each peer. */
    BUSY,
    /** It gives up the CPU before it looks again. */
    YIELD,
    /** It sleeps until the completion event comes, which each completion has, as perftest does. */
    EVENTS,
    /** It looks first, and sleeps until an event comes only when there is nothing: {@code CompletionQueue.await}. */
    AWAIT;

    /** {@return whether perftest is to use completion events} */
    public boolean usesEvents() {
        return this == EVENTS || this == AWAIT;
    }

    /** {@return the name in results} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
