// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

import io.rdmacm.examples.load.LoadClient;

/** A client of the store for the load: one request at a time, made when the load waits for its answer. */
final class KvLoadClient implements LoadClient {
    private final KvClient client;
    private final LongAdder tornReads;
    private byte[] key;
    private byte[] value;

    /**
     * Wraps a client.
     *
     * @param client closed by {@link #close}
     * @param tornReads the repeated reads of the client are added when it is closed
     */
    KvLoadClient(KvClient client, LongAdder tornReads) {
        this.client = client;
        this.tornReads = tornReads;
    }

    @Override
    public void startGet(byte[] wanted) {
        key = wanted;
    }

    @Override
    public void startPut(byte[] target, byte[] content) {
        key = target;
        value = content;
    }

    @Override
    public void flush() {
        // The request is made when it is finished.
    }

    @Override
    public byte[] finishGet() throws IOException, InterruptedException {
        return client.get(key);
    }

    @Override
    public void finishPut() throws IOException, InterruptedException {
        client.put(key, value);
    }

    @Override
    public void close() throws IOException {
        tornReads.add(client.tornReads());
        client.close();
    }
}
