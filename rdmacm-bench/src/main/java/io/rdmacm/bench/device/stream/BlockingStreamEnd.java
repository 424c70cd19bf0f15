// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.MessageEnd;

/**
 * One end of a stream whose calls return when they are done.
 *
 * @param end what sends and receives
 * @param client whether it sends first
 */
public record BlockingStreamEnd(MessageEnd end, boolean client) implements StreamEnd {
    @Override
    public byte[] address() throws IOException {
        return end.address();
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        end.connect(peer);
    }

    @Override
    public void exchange(int times, int count, int size, Allocation allocation) throws IOException {
        allocation.start();
        for (int i = 0; i < times; i++) {
            if (client) {
                end.send(count, size);
                end.receive(count, size);
            } else {
                end.receive(count, size);
                end.send(count, size);
            }
        }
        allocation.end(times * count);
    }

    @Override
    public void close() throws IOException {
        end.close();
    }
}
