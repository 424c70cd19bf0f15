// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The data of {@code -T v}: in each direction, the numbers from 0 to 255 over and over. */
final class CountingData {
    private byte nextSent;
    private byte nextReceived;
    private long received;

    /** Fills the rest of a buffer, whose position stays. */
    void fill(ByteBuffer buffer) {
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            buffer.put(i, nextSent++);
        }
    }

    /** Checks the rest of a buffer, whose position stays. */
    void verify(ByteBuffer buffer) throws IOException {
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            if (buffer.get(i) != nextReceived++) {
                throw new IOException("data verification failed byte " + received);
            }
            received++;
        }
    }
}
