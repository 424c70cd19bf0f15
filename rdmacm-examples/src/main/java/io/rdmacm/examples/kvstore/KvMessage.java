// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The messages, in network byte order: a byte for the kind or the status, and what belongs to it. */
final class KvMessage {
    /** The most bytes that a message has besides a key and a value. */
    static final int OVERHEAD = 64;

    private KvMessage() {
    }

    /** The kinds of requests. */
    enum Request {
        /** Asks where the table is. The answer is its address, its remote key and its layout. */
        HELLO,
        /** Puts a value: key, value. */
        PUT
    }

    /** The status of an answer. */
    enum Answer { OK, FULL, WRONG }

    static ByteBuffer begin(ByteBuffer message, Enum<?> kind) {
        return message.put((byte) kind.ordinal());
    }

    static void writeBytes(ByteBuffer message, byte[] bytes) {
        message.putInt(bytes.length).put(bytes);
    }

    /** Reads a length and so many bytes; null if the message ends before. */
    static byte[] readBytes(ByteBuffer message) {
        int length = message.remaining() < Integer.BYTES ? -1 : message.getInt();
        if (length < 0 || length > message.remaining()) {
            return null;
        }
        byte[] bytes = new byte[length];
        message.get(bytes);
        return bytes;
    }

    /** Refuses answers other than {@link Answer#OK}. */
    static void requireOk(ByteBuffer answer) throws IOException {
        int status = answer.get();
        if (status == Answer.FULL.ordinal()) {
            throw new IOException("the server has no slot left for the key: start it with more --slots");
        }
        if (status != Answer.OK.ordinal()) {
            throw new IOException("the server refused the request");
        }
    }
}
