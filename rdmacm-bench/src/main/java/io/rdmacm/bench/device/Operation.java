// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.Locale;

/** What is posted. */
public enum Operation {
    /** Messages into posted receives. */
    SEND(true),
    /** Writes to the peer's memory, which the peer watches when it is to answer. */
    WRITE(true),
    /** Reads of the peer's memory; the peer does nothing. */
    READ(false),
    /** Fetch and add of 8 bytes of the peer's memory; the peer does nothing. */
    ATOMIC(false);

    private final boolean answered;

    Operation(boolean answered) {
        this.answered = answered;
    }

    /** {@return whether the peer answers in the test of latency, so that half of the round trip counts} */
    public boolean isAnswered() {
        return answered;
    }

    /** {@return the name in results} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
