// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Messages over a TCP connection, each preceded by its length. Not thread-safe. */
final class TcpFrames {
    private final SocketChannel channel;
    private final ByteBuffer in;
    private final ByteBuffer out;

    TcpFrames(SocketChannel channel, int messageBytes) {
        this.channel = channel;
        this.in = ByteBuffer.allocateDirect(Integer.BYTES + messageBytes);
        this.out = ByteBuffer.allocateDirect(Integer.BYTES + messageBytes);
    }

    /** Returns the buffer to write the next message to. */
    ByteBuffer begin() {
        return out.clear().position(Integer.BYTES);
    }

    /** Sends the message. */
    void send() throws IOException {
        out.putInt(0, out.position() - Integer.BYTES).flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    /**
     * Waits for the next message.
     *
     * @return the message, valid until the next call; null if the peer has closed the connection between two messages
     */
    ByteBuffer receive() throws IOException {
        in.clear();
        int wanted = Integer.BYTES;
        while (in.position() < wanted) {
            if (channel.read(in) < 0) {
                if (in.position() == 0) {
                    return null;
                }
                throw new EOFException("the connection ended in the middle of a message");
            }
            if (in.position() >= Integer.BYTES) {
                int length = in.getInt(0);
                if (length < 0 || length > in.capacity() - Integer.BYTES) {
                    throw new IOException("a message of " + Integer.toUnsignedString(length) + " bytes");
                }
                wanted = Integer.BYTES + length;
            }
        }
        return in.flip().position(Integer.BYTES);
    }
}
