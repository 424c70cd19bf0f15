// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.io.IOException;

/**
 * A client of a key-value store. Requests are started, flushed together, and finished in the same order. A client that
 * has one request at a time may do all the work when it is finished. Not thread-safe.
 */
public interface LoadClient extends AutoCloseable {
    /**
     * Starts a get.
     *
     * @param key the key
     * @throws IOException if the connection failed
     * @throws InterruptedException if the thread was interrupted
     */
    void startGet(byte[] key) throws IOException, InterruptedException;

    /**
     * Starts a put.
     *
     * @param key the key
     * @param value the value
     * @throws IOException if the connection failed
     * @throws InterruptedException if the thread was interrupted
     */
    void startPut(byte[] key, byte[] value) throws IOException, InterruptedException;

    /**
     * Sends the requests that have been started.
     *
     * @throws IOException if the connection failed
     * @throws InterruptedException if the thread was interrupted
     */
    void flush() throws IOException, InterruptedException;

    /**
     * Waits for the answer to the oldest request, a get.
     *
     * @return the value, or null if there is none
     * @throws IOException if the connection failed, or the store reported an error
     * @throws InterruptedException if the thread was interrupted
     */
    byte[] finishGet() throws IOException, InterruptedException;

    /**
     * Waits for the answer to the oldest request, a put. Once this returns, every client gets its value.
     *
     * @throws IOException if the connection failed, or the store reported an error
     * @throws InterruptedException if the thread was interrupted
     */
    void finishPut() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
