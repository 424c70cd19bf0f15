// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
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
        int transfer(ByteBuffer bytes) throws IOException, InterruptedException;
    }

    /** Sends the payload of a number, and checks that it comes back. */
    static void exchange(Worker worker, long number, int length, Direction output, Direction input) throws Exception {
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
                LossException.unless(input.transfer(target) > 0, "a stream ended after %d of %d bytes",
                        target.position(), length);
            }
        }
        Payload.check(MemorySegment.ofBuffer(target.flip()), number);
        worker.counters().countOperation("bytes echoed", length);
    }
}
