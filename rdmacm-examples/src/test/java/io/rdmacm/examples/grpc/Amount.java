// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * How many messages to send.
 *
 * @param messages their number
 * @param size the bytes of each
 */
record Amount(int messages, int size) {
    /** Returns one of the messages: random bytes that depend on its number only. */
    byte[] message(int number) {
        byte[] bytes = new byte[size];
        new SplittableRandom(number).nextBytes(bytes);
        return bytes;
    }

    /** Returns the tally of all messages in their order. */
    Tally tally() {
        Tally tally = new Tally();
        for (int i = 0; i < messages; i++) {
            tally.add(message(i));
        }
        return tally;
    }

    byte[] encoded() {
        return ByteBuffer.allocate(2 * Integer.BYTES).putInt(messages).putInt(size).array();
    }

    static Amount decoded(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Amount(buffer.getInt(), buffer.getInt());
    }
}
