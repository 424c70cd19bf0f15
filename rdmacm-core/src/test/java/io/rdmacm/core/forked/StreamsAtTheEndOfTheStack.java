// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.nio.ByteBuffer;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.EndOfStack;

/** Reads and writes streams where the stack of a thread ends: no byte may be lost, sent twice or made up unnoticed. */
public final class StreamsAtTheEndOfTheStack {
    private static final int BYTES = 100;
    private static final int ROUNDS = 5;

    private StreamsAtTheEndOfTheStack() {
    }

    /** Fails if a byte was. */
    public static void main(String[] args) throws Exception {
        try (Streams streams = new Streams()) {
            for (int i = 0; i < ROUNDS; i++) {
                try (Streams.Pair pair = streams.connect()) {
                    read(pair);
                }
                try (Streams.Pair pair = streams.connect()) {
                    write(pair);
                }
            }
        }
    }

    private static void read(Streams.Pair pair) throws Exception {
        for (int i = 0; i < BYTES; i++) {
            pair.server().write(ByteBuffer.wrap(new byte[] {(byte) i}), Streams.TIMEOUT);
        }
        pair.server().shutdownOutput();
        ByteBuffer read = ByteBuffer.allocate(BYTES + 1);
        EndOfStack.run(() -> readByte(pair.client(), read));
        requireConsecutive(readAll(pair.client(), read));
    }

    private static void write(Streams.Pair pair) throws Exception {
        try (Background<ByteBuffer> reading = Background.call(
                () -> readAll(pair.client(), ByteBuffer.allocate(BYTES + 1)))) {
            ByteBuffer written = ByteBuffer.allocate(BYTES);
            for (int i = 0; i < BYTES; i++) {
                written.put((byte) i);
            }
            written.flip();
            EndOfStack.run(() -> writeByte(pair.server(), written));
            while (writeByte(pair.server(), written)) {
                // and the rest
            }
            pair.server().close();
            requireConsecutive(reading.result());
        }
    }

    private static ByteBuffer readAll(RdmaStream stream, ByteBuffer into) throws InterruptedException {
        while (readByte(stream, into) > 0) {
            // until the end
        }
        return into;
    }

    /** Reads a byte into a buffer; returns -1 at the end, or when the stream has failed. */
    private static int readByte(RdmaStream stream, ByteBuffer into) throws InterruptedException {
        try {
            into.limit(into.position() + 1);
            return stream.read(into, Streams.TIMEOUT);
        } catch (RdmaException e) {
            return -1;
        }
    }

    /** Writes the next byte of a buffer; returns false after the last, or when the stream has failed. */
    private static boolean writeByte(RdmaStream stream, ByteBuffer from) throws InterruptedException {
        if (from.position() == BYTES) {
            return false;
        }
        try {
            from.limit(from.position() + 1);
            stream.write(from, Streams.TIMEOUT);
            return true;
        } catch (RdmaException e) {
            return false;
        }
    }

    private static void requireConsecutive(ByteBuffer read) {
        for (int i = 0; i < read.position(); i++) {
            if (read.get(i) != (byte) i) {
                throw new AssertionError("byte " + i + " of " + read.position() + " is " + read.get(i));
            }
        }
    }
}
