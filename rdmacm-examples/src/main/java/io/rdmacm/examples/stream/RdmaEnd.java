// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** One end of an {@link RdmaStream}. */
final class RdmaEnd implements StreamEnd {
    private final RdmaStream stream;
    private final boolean async;
    private final boolean blocking;
    private final Duration timeout;
    private final BusyWait busy;

    RdmaEnd(RdmaStream stream, StreamProgram program) {
        this.stream = stream;
        this.async = program.wants(TestOption.ASYNC);
        this.blocking = program.isBlocking();
        this.timeout = program.timeout();
        this.busy = new BusyWait(timeout);
    }

    @Override
    public void send(ByteBuffer data) throws IOException, InterruptedException {
        if (blocking && !async) {
            stream.write(data, timeout);
            return;
        }
        busy.reset();
        while (data.hasRemaining()) {
            if (async) {
                await(RdmaStream.WRITABLE);
                stream.write(data);
            } else if (stream.write(data) == 0) {
                busy.pause();
            } else {
                busy.reset();
            }
        }
    }

    @Override
    public void receive(ByteBuffer data) throws IOException, InterruptedException {
        busy.reset();
        while (data.hasRemaining()) {
            int length;
            if (async) {
                await(RdmaStream.READABLE);
                length = stream.read(data);
            } else {
                length = blocking ? stream.read(data, timeout) : stream.read(data);
            }
            if (length < 0) {
                throw new EOFException("the peer has closed the stream");
            }
            if (length > 0) {
                busy.reset();
            } else if (!blocking) {
                busy.pause();
            }
        }
    }

    private void await(int what) throws IOException, InterruptedException {
        if (stream.await(what, timeout) == 0) {
            throw new RdmaTimeoutException("rpoll", "the peer did nothing for " + timeout.toSeconds() + " s");
        }
    }

    @Override
    public void awaitPeer() throws IOException, InterruptedException {
        await(RdmaStream.ENDED);
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
