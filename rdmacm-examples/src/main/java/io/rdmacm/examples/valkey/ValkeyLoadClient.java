// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import io.rdmacm.examples.load.LoadClient;

/** Makes the puts and gets of the load: the commands SET and GET. */
final class ValkeyLoadClient implements LoadClient {
    private static final byte[] GET = "GET".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SET = "SET".getBytes(StandardCharsets.US_ASCII);

    private final ValkeyClient client;

    ValkeyLoadClient(ByteStream stream) {
        this.client = new ValkeyClient(stream);
    }

    @Override
    public void startGet(byte[] key) throws IOException, InterruptedException {
        client.send(GET, key);
    }

    @Override
    public void startPut(byte[] key, byte[] value) throws IOException, InterruptedException {
        client.send(SET, key, value);
    }

    @Override
    public void flush() throws IOException, InterruptedException {
        client.flush();
    }

    @Override
    public byte[] finishGet() throws IOException, InterruptedException {
        return switch (client.receive()) {
            case Reply.Bulk value -> value.bytes();
            case Reply.Nil none -> null;
            case Reply other -> throw new IOException("the server answers GET with " + other);
        };
    }

    @Override
    public void finishPut() throws IOException, InterruptedException {
        Reply reply = client.receive();
        if (!(reply instanceof Reply.Status)) {
            throw new IOException("the server answers SET with " + reply);
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
    }
}
