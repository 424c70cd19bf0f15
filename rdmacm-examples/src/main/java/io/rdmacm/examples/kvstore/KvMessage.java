// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The messages, the same over RDMA and over TCP, in network byte order. A request is its kind and what belongs to it;
 * an answer begins with how it went.
 */
final class KvMessage {
    /** What a message has besides a key and a value, at most. */
    static final int OVERHEAD = 64;

    private KvMessage() {
    }

    /** What is asked for. */
    enum Request {
        /** Where the table is; over RDMA only. */
        HELLO,
        /** To put a value: key, value. Answered by the version. */
        PUT,
        /** A value, by its key. Answered by the value. */
        GET,
        /** How many puts and gets the server's program has handled. */
        COUNT
    }

    /** How it went. */
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
     * Bytes with their length.
     *
     * @throws IOException when the message has not so many
     */
    static byte[] readBytes(ByteBuffer message) throws IOException {
        int length = message.remaining() < Integer.BYTES ? -1 : message.getInt();
        if (length < 0 || length > message.remaining()) {
            throw new IOException("a message is too short for what it says to hold");
        }
        byte[] bytes = new byte[length];
        message.get(bytes);
        return bytes;
    }

    /** The kind of a request. */
    static Request request(ByteBuffer message) throws IOException {
        int kind = message.hasRemaining() ? message.get() : -1;
        if (kind < 0 || kind >= Request.values().length) {
            throw new IOException("a message of the unknown kind " + kind);
        }
        return Request.values()[kind];
    }

    /**
     * Reads how a request went.
     *
     * @return false when there is no such key
     * @throws IOException when it was refused
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
