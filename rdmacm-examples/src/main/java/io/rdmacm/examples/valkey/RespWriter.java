// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes commands in RESP, Valkey's format: {@code *2\r\n$3\r\nGET\r\n$1\r\nk\r\n}. They are collected in a buffer and
 * sent when it is full or {@link #flush} is called. Not thread-safe.
 */
final class RespWriter {
    /** The end of a line. */
    static final byte[] END = {'\r', '\n'};

    private final ByteStream stream;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);

    RespWriter(ByteStream stream) {
        this.stream = stream;
    }

    /** Adds a command with its arguments. */
    void command(byte[]... words) throws IOException, InterruptedException {
        header('*', words.length);
        for (byte[] word : words) {
            header('$', word.length);
            put(word);
            put(END);
        }
    }

    /** Sends what has been added. */
    void flush() throws IOException, InterruptedException {
        buffer.flip();
        stream.write(buffer);
        buffer.clear();
    }

    private void header(char type, int count) throws IOException, InterruptedException {
        put((type + Integer.toString(count)).getBytes(StandardCharsets.US_ASCII));
        put(END);
    }

    private void put(byte[] bytes) throws IOException, InterruptedException {
        int offset = 0;
        while (offset < bytes.length) {
            if (!buffer.hasRemaining()) {
                flush();
            }
            int part = Math.min(buffer.remaining(), bytes.length - offset);
            buffer.put(bytes, offset, part);
            offset += part;
        }
    }
}
