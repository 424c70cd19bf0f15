// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The messages, the same over RDMA and TCP, in network byte order. A request starts with a byte for its kind, an answer
 * with a byte for its status.
 */
final class KvMessage {
    /** The most bytes that a message has besides a key and a value. */
    static final int OVERHEAD = 64;

    private KvMessage() {
    }

    /** The kinds of requests. */
    enum Request {
        /** Asks where the table is; over RDMA only. */
        HELLO,
        /** Puts a value: key, value. The answer is the version. */
        PUT,
        /** Gets a value: key. The answer is the value. */
        GET,
        /** Asks how many puts and gets the server has handled. */
        COUNT
    }

    /** The status of an answer. */
    enum Answer { OK, NOT_FOUND, FULL, WRONG }

    static void put(ByteBuffer message, byte[] key, byte[] value) {
        begin(message, Request.PUT);
        writeBytes(message, key);
        writeBytes(message, value);
    }

    static void get(ByteBuffer message, byte[] key) {
        begin(message, Request.GET);
        writeBytes(message, key);
    }

    static void begin(ByteBuffer message, Request request) {
        message.put((byte) request.ordinal());
    }

    static void begin(ByteBuffer message, Answer answer) {
        message.put((byte) answer.ordinal());
    }

    static void writeBytes(ByteBuffer message, byte[] bytes) {
        message.putInt(bytes.length).put(bytes);
    }

    /**
     * Reads a length and so many bytes.
     *
     * @throws IOException if the message ends before
     */
    static byte[] readBytes(ByteBuffer message) throws IOException {
        int length = message.remaining() < Integer.BYTES ? -1 : message.getInt();
        if (length < 0 || length > message.remaining()) {
            throw new IOException("a message is shorter than the length that it states");
        }
        byte[] bytes = new byte[length];
        message.get(bytes);
        return bytes;
    }

    /** Reads the kind of a request. */
    static Request request(ByteBuffer message) throws IOException {
        int kind = message.hasRemaining() ? message.get() : -1;
        if (kind < 0 || kind >= Request.values().length) {
            throw new IOException("a message of the unknown kind " + kind);
        }
        return Request.values()[kind];
    }

    /**
     * Reads the status of an answer.
     *
     * @return false if there is no such key
     * @throws IOException if the request was refused
     */
    static boolean found(ByteBuffer message) throws IOException {
        int answer = message.hasRemaining() ? message.get() : -1;
        if (answer == Answer.FULL.ordinal()) {
            throw new IOException("the server has no slot left for the key: start it with more --slots");
        }
        if (answer != Answer.OK.ordinal() && answer != Answer.NOT_FOUND.ordinal()) {
            throw new IOException("the server refused the request");
        }
        return answer == Answer.OK.ordinal();
    }
}
