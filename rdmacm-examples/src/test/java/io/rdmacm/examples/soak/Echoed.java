// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.EOFException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Bytes that a server sends back while the client still sends. */
final class Echoed {
    // less than what both sides have room for, so that both may wait
    private static final int PART = 16_384;

    private Echoed() {
    }

    /** One direction of a stream. */
    @FunctionalInterface
    interface Direction {
        /** Transfers some bytes, at least one, and returns how many; waits as long as needed. */
        int transfer(ByteBuffer bytes) throws Exception;
    }

    /** Sends the payload of a number, and checks that it comes back. */
    static void exchange(long number, int length, Direction output, Direction input) throws Exception {
        MemorySegment sent = MemorySegment.ofArray(new byte[length]);
        Payload.write(sent, number);
        ByteBuffer source = sent.asByteBuffer();
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining()) {
            if (source.hasRemaining()) {
                ByteBuffer part = source.slice(source.position(), Math.min(PART, source.remaining()));
                source.position(source.position() + part.remaining());
                while (part.hasRemaining()) {
                    output.transfer(part);
                }
            }
            int end = source.position();
            while (target.position() < end) {
                if (input.transfer(target) <= 0) {
                    throw new EOFException("a stream ended after " + target.position() + " of " + length + " bytes");
                }
            }
        }
        Payload.check(MemorySegment.ofBuffer(target.flip()), number);
    }
}
