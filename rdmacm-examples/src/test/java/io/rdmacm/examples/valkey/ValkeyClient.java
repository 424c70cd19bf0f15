// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.rdmacm.core.connection.ConnectionManager;

/** A client of a Valkey server, which speaks RESP: {@code *2\r\n$3\r\nGET\r\n$1\r\nk\r\n}. Not thread-safe. */
final class ValkeyClient implements AutoCloseable {
    private final ValkeyStream stream;

    ValkeyClient(ConnectionManager manager, InetSocketAddress server) throws IOException, InterruptedException {
        stream = new ValkeyStream(manager, server);
    }

    /** Sends a command, and returns its answer. */
    Object call(String... words) throws IOException, InterruptedException {
        send(words);
        return receive();
    }

    void send(String... words) throws IOException, InterruptedException {
        send(Arrays.stream(words).map(word -> word.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
    }

    /** Sends a command. Its answer comes after those of the commands before. */
    void send(byte[]... words) throws IOException, InterruptedException {
        ByteArrayOutputStream command = new ByteArrayOutputStream();
        command.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (byte[] word : words) {
            command.writeBytes(("$" + word.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            command.writeBytes(word);
            command.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        stream.write(ByteBuffer.wrap(command.toByteArray()));
    }

    /** Waits for an answer: a status or an error as text, a number, bytes, null, or an array of them. */
    Object receive() throws IOException, InterruptedException {
        char type = (char) stream.read(new byte[1])[0];
        String line = line();
        return switch (type) {
            case '+', '-' -> line;
            case ':' -> Long.valueOf(line);
            case '$' -> line.equals("-1") ? null : bytes(Integer.parseInt(line));
            case '*' -> array(Integer.parseInt(line));
            default -> throw new IOException("an answer of the unknown type " + type);
        };
    }

    private byte[] bytes(int length) throws IOException, InterruptedException {
        byte[] bytes = stream.read(new byte[length]);
        stream.read(new byte[2]);
        return bytes;
    }

    private Object[] array(int length) throws IOException, InterruptedException {
        Object[] elements = new Object[length];
        for (int i = 0; i < length; i++) {
            elements[i] = receive();
        }
        return elements;
    }

    private String line() throws IOException, InterruptedException {
        StringBuilder line = new StringBuilder();
        for (byte[] each = stream.read(new byte[1]); each[0] != '\r'; stream.read(each)) {
            line.append((char) each[0]);
        }
        stream.read(new byte[1]);
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
