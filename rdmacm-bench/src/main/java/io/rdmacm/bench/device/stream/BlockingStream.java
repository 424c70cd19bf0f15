// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream whose calls return when they are done. */
abstract class BlockingStream extends StreamEnd {
    private final ByteBuffer buffer;

    BlockingStream(Load load, boolean client, boolean roundTrips) {
        super(load, client, roundTrips);
        this.buffer = ByteBuffer.allocateDirect(largest);
    }

    /** Writes all that the buffer has. */
    abstract void write(ByteBuffer source) throws IOException, InterruptedException;

    /** Reads what is there, at least a byte; returns a negative number at the end. */
    abstract int read(ByteBuffer target) throws IOException, InterruptedException;

    @Override
    void exchange(int times, int count, int size, Allocation allocated) throws IOException, InterruptedException {
        allocated.start();
        for (int i = 0; i < times; i++) {
            if (client) {
                send(count, size);
                receive(count, size);
            } else {
                receive(count, size);
                send(count, size);
            }
        }
        allocated.end(times * count);
    }

    private void send(int count, int size) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            write(buffer.clear().limit(size));
        }
    }

    private void receive(int count, int size) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(size);
            while (buffer.hasRemaining()) {
                if (read(buffer) < 0) {
                    throw new EOFException("the peer has closed the stream");
                }
            }
        }
    }
}
