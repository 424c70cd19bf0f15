// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;

/** A connection with the store, whichever way; for one thread at a time. */
interface KvClient extends AutoCloseable {
    /** Puts a value; when it returns, everybody gets this one. */
    void put(byte[] key, byte[] value) throws IOException, InterruptedException;

    /** The value of a key; null when there is none. */
    byte[] get(byte[] key) throws IOException, InterruptedException;

    /** How many puts and gets of all clients the server's program has handled. */
    long handled() throws IOException, InterruptedException;

    /** How often a read of this client met a write and was done again. */
    long tornReads();

    @Override
    void close() throws IOException;
}
