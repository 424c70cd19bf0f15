// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

import io.rdmacm.core.stream.RdmaStream;

/**
 * The header of a message of rcopy, in the byte order of the machine, as in C.
 *
 * @param command what to do; with {@link #RESPONSE}, the answer to it
 * @param length the length of the message with the header
 * @param data the mode of a file that is to be opened; in a response, 0 or an error
 * @param id is sent back in the response
 */
record CopyMessage(int command, int length, int data, long id) {
    /** The length of a header. */
    static final int BYTES = 16;
    /** The length of a message that announces data. */
    static final int WRITE_BYTES = BYTES + Long.BYTES;
    /** Opens a file, whose name follows. */
    static final int OPEN = 1;
    /** Closes the file. */
    static final int CLOSE = 2;
    /** Announces the data of the file, whose length follows. */
    static final int WRITE = 3;
    /** Marks a response. */
    static final int RESPONSE = 0x80;
    /** The longest message. */
    static final int LONGEST = 0xFFFF;

    private static final int BYTE = 0xFF;

    /** Returns a buffer in the byte order of the messages. */
    static ByteBuffer buffer(int length) {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    }

    /** Returns a request with room for more after the header, where the buffer's position is. */
    static ByteBuffer request(int command, int data, int more) {
        return new CopyMessage(command, BYTES + more, data, 0).put(buffer(BYTES + more));
    }

    private ByteBuffer put(ByteBuffer buffer) {
        return buffer.put((byte) 0).put((byte) command).putShort((short) length).putInt(data).putLong(id);
    }

    /**
     * Receives a header.
     *
     * @return the header, null at the end of the stream
     */
    static CopyMessage receive(RdmaStream stream, Duration timeout) throws IOException, InterruptedException {
        ByteBuffer buffer = buffer(BYTES);
        if (stream.read(buffer, timeout) < 0) {
            return null;
        }
        receive(stream, buffer, timeout);
        buffer.flip();
        int version = buffer.get() & BYTE;
        int command = buffer.get() & BYTE;
        int length = Short.toUnsignedInt(buffer.getShort());
        if (version != 0 || length < BYTES) {
            throw new IOException("invalid version " + version + " or length " + length);
        }
        return new CopyMessage(command, length, buffer.getInt(), buffer.getLong());
    }

    /** Receives until a buffer is full. */
    static void receive(RdmaStream stream, ByteBuffer buffer, Duration timeout)
            throws IOException, InterruptedException {
        while (buffer.hasRemaining()) {
            if (stream.read(buffer, timeout) < 0) {
                throw new EOFException("the peer has closed the stream");
            }
        }
    }

    /** Sends the response to this message. */
    void respond(RdmaStream stream, int status, Duration timeout) throws IOException, InterruptedException {
        CopyMessage response = new CopyMessage(command | RESPONSE, BYTES, status, id);
        stream.write(response.put(buffer(BYTES)).flip(), timeout);
    }
}
