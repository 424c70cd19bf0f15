// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection that carries bytes in both directions. Not thread-safe. */
interface ByteStream extends AutoCloseable {
    /** Sends all remaining bytes of a buffer. They may be on their way when this returns. */
    void write(ByteBuffer bytes) throws IOException, InterruptedException;

    /**
     * Waits until something has arrived, and puts what fits into a buffer: at least one byte, unless the buffer has no
     * room.
     *
     * @throws IOException if the peer has ended the connection, or it failed
     */
    void read(ByteBuffer target) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
