// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A client of a Valkey server. Commands can overlap: their answers come in the same order. Not thread-safe. */
final class ValkeyClient implements AutoCloseable {
    private final ByteStream stream;
    private final RespWriter writer;
    private final RespReader reader;

    /** Creates a client on a connection, which {@link #close} will close. */
    ValkeyClient(ByteStream stream) {
        this.stream = stream;
        this.writer = new RespWriter(stream);
        this.reader = new RespReader(stream);
    }

    /** Sends a command, and waits for its answer. */
    Reply call(String... words) throws IOException, InterruptedException {
        byte[][] bytes = new byte[words.length][];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = words[i].getBytes(StandardCharsets.UTF_8);
        }
        send(bytes);
        flush();
        return receive();
    }

    /** Adds a command to those that {@link #flush} sends. */
    void send(byte[]... words) throws IOException, InterruptedException {
        writer.command(words);
    }

    /** Sends the commands that have been added. */
    void flush() throws IOException, InterruptedException {
        writer.flush();
    }

    /** Waits for the answer to the oldest command that has not been answered. */
    Reply receive() throws IOException, InterruptedException {
        return reader.read();
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
