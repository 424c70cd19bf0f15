// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

/** A message of 32 bits, which travels as immediate value: its kind in the upper 3 bits, and a value in the others. */
final class StreamMessage {
    /** Data was written to the current target; the value is their length. */
    static final int DATA = 0;
    /** The value is the number of the last message that may be sent, 16 bits; a target may have been published. */
    static final int CREDIT = 4;
    /** A mapping was written; the value is its index. */
    static final int MAPPED = 6;
    /** The value is one of those below. */
    static final int CONTROL = 7;

    /** The peer has closed the stream. */
    static final int DISCONNECT = 0;
    /** The peer is alive. C defines the value, but its keep-alive is a write without a message. */
    static final int KEEP_ALIVE = 1;
    /** The peer will send no more data. */
    static final int SHUTDOWN = 2;

    private static final int KIND_SHIFT = 29;
    private static final int VALUE_MASK = (1 << KIND_SHIFT) - 1;

    private StreamMessage() {
    }

    static int of(int kind, int value) {
        return kind << KIND_SHIFT | value;
    }

    static int kind(int message) {
        return message >>> KIND_SHIFT;
    }

    static int value(int message) {
        return message & VALUE_MASK;
    }
}
