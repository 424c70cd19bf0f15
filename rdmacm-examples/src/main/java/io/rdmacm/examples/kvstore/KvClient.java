// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;

/** A client of the store, over RDMA or TCP. Not thread-safe. */
interface KvClient extends AutoCloseable {
    /** Puts a value; once this returns, every client gets this value. */
    void put(byte[] key, byte[] value) throws IOException, InterruptedException;

    /** Returns the value of a key, or null if there is none. */
    byte[] get(byte[] key) throws IOException, InterruptedException;

    /** Returns how many puts and gets of all clients the server has handled. RDMA reads are not among them. */
    long handled() throws IOException, InterruptedException;

    /** Returns how often a read of this client overlapped a write and was repeated. */
    long tornReads();

    @Override
    void close() throws IOException;
}
