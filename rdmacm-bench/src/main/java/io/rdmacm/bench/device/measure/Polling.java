// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

/** How a thread waits for completions, or for data in memory. */
public enum Polling {
    /** Polls without a pause: the fastest way, if each peer has a CPU. */
    BUSY,
    /** Yields the CPU between polls. */
    YIELD,
    /** Sleeps until a completion event for each completion, as perftest does. */
    EVENTS,
    /** Polls first, and sleeps on an event only if there is nothing: {@code CompletionQueue.await}. */
    AWAIT;

    /** {@return whether perftest uses completion events for comparison} */
    public boolean usesEvents() {
        return this == EVENTS || this == AWAIT;
    }
}
