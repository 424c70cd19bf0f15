// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads answers in RESP version 2. Not thread-safe. */
final class RespReader {
    // the limits of the server
    private static final int MAX_BULK = 512 << 20;
    private static final int MAX_ELEMENTS = 1 << 20;
    private static final int MAX_NESTING = 32;

    private final ByteStream stream;
    // what has been read from the stream and not used yet, between position and limit
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16).limit(0);
    private final StringBuilder line = new StringBuilder();

    RespReader(ByteStream stream) {
        this.stream = stream;
    }

    /** Waits for the next answer. */
    Reply read() throws IOException, InterruptedException {
        return read(0);
    }

    private Reply read(int nesting) throws IOException, InterruptedException {
        byte type = next();
        return switch (type) {
            case '+' -> new Reply.Status(line());
            case '-' -> new Reply.Failure(line());
            case ':' -> new Reply.Number(number());
            case '$' -> {
                int length = count(MAX_BULK);
                yield length < 0 ? new Reply.Nil() : new Reply.Bulk(bytes(length));
            }
            case '*' -> {
                int count = count(MAX_ELEMENTS);
                if (nesting == MAX_NESTING) {
                    throw new IOException("an answer of more than " + MAX_NESTING + " nested arrays");
                }
                yield count < 0 ? new Reply.Nil() : new Reply.Array(elements(count, nesting + 1));
            }
            default -> throw new IOException(String.format("an answer of the unknown type 0x%02x", type));
        };
    }

    private List<Reply> elements(int count, int nesting) throws IOException, InterruptedException {
        List<Reply> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(read(nesting));
        }
        return elements;
    }

    private byte[] bytes(int length) throws IOException, InterruptedException {
        byte[] bytes = new byte[length];
        int buffered = Math.min(length, buffer.remaining());
        buffer.get(bytes, 0, buffered);
        ByteBuffer rest = ByteBuffer.wrap(bytes, buffered, length - buffered);
        while (rest.hasRemaining()) {
            stream.read(rest);
        }
        if (next() != '\r' || next() != '\n') {
            throw new IOException("an answer is longer than it says");
        }
        return bytes;
    }

    /** Reads a length, or -1 for nothing at all. */
    private int count(int max) throws IOException, InterruptedException {
        long count = number();
        if (count < -1 || count > max) {
            throw new IOException("an answer of the length " + count);
        }
        return (int) count;
    }

    private long number() throws IOException, InterruptedException {
        String text = line();
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException("an answer has '" + text + "' instead of a number", e);
        }
    }

    private String line() throws IOException, InterruptedException {
        line.setLength(0);
        for (byte each = next(); each != '\r'; each = next()) {
            if (line.length() == buffer.capacity()) {
                throw new IOException("an answer has a line of more than " + line.length() + " bytes");
            }
            line.append((char) (each & 0xff));
        }
        next();
        // what was read as Latin-1 is UTF-8
        return new String(line.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private byte next() throws IOException, InterruptedException {
        if (!buffer.hasRemaining()) {
            buffer.clear();
            try {
                stream.read(buffer);
            } finally {
                buffer.flip();
            }
        }
        return buffer.get();
    }
}
