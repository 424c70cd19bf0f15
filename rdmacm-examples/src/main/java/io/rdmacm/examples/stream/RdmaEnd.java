// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** One end of an {@link RdmaStream}. */
final class RdmaEnd extends StreamEnd {
    private final RdmaStream stream;
    private final boolean async;
    private final boolean blocking;
    private final Duration timeout;

    RdmaEnd(RdmaStream stream, StreamProgram program) {
        super(program);
        this.stream = stream;
        this.async = program.wants(TestOption.ASYNC);
        this.blocking = program.isBlocking();
        this.timeout = program.timeout();
    }

    @Override
    int write(ByteBuffer data) throws IOException, InterruptedException {
        if (async || !blocking) {
            return stream.write(data);
        }
        int length = data.remaining();
        stream.write(data, timeout);
        return length;
    }

    @Override
    int read(ByteBuffer data) throws IOException, InterruptedException {
        return async || !blocking ? stream.read(data) : stream.read(data, timeout);
    }

    @Override
    void await(int operation) throws IOException, InterruptedException {
        if (async) {
            awaitEvent(operation == SelectionKey.OP_READ ? RdmaStream.READABLE : RdmaStream.WRITABLE);
        }
    }

    private void awaitEvent(int event) throws IOException, InterruptedException {
        if (stream.await(event, timeout) == 0) {
            throw new RdmaTimeoutException("rpoll", "the peer did nothing for " + timeout.toSeconds() + " s");
        }
    }

    @Override
    void awaitPeer() throws IOException, InterruptedException {
        awaitEvent(RdmaStream.ENDED);
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
