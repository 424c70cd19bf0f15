// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.util.Locale;

/** The operations that are measured. */
public enum Operation {
    /** Sends of messages. */
    SEND(true),
    /** Writes to the peer's memory; the peer watches the memory if it has to answer. */
    WRITE(true),
    /** Reads of the peer's memory; the peer does nothing. */
    READ(false),
    /** Fetch and add of 8 bytes of the peer's memory; the peer does nothing. */
    ATOMIC(false);

    private final boolean answered;

    Operation(boolean answered) {
        this.answered = answered;
    }

    /** {@return whether the peer answers in latency tests, so that half of the round trip counts} */
    public boolean isAnswered() {
        return answered;
    }

    /** {@return the name in results} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
