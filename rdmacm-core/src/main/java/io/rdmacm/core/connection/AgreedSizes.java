// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalInt;

import io.rdmacm.core.ConnectionParameters;

/**
 * What two peers of this library tell each other in front of the program's private data, where both programs ask for
 * it: the size of the largest message that the side receives.
 */
final class AgreedSizes {
    private static final int MAGIC = 0x726d4a31;
    private static final int BYTES = 2 * Integer.BYTES;

    private AgreedSizes() {
    }

    /** Puts the size in front of the private data. */
    static ConnectionParameters with(ConnectionParameters parameters, int messageSize) {
        byte[] own = parameters.privateData();
        return parameters.toBuilder().privateData(ByteBuffer.allocate(BYTES + own.length).putInt(MAGIC)
                .putInt(messageSize).put(own).array()).build();
    }

    /** Returns the size in front of the private data, if the peer has put it there. */
    static OptionalInt in(ConnectionParameters parameters) {
        byte[] data = parameters.privateData();
        if (data.length < BYTES || ByteBuffer.wrap(data).getInt() != MAGIC) {
            return OptionalInt.empty();
        }
        int size = ByteBuffer.wrap(data).getInt(Integer.BYTES);
        // What is negative is the program's own data.
        return size < 0 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    /** Returns the parameters without the size, which is there. */
    static ConnectionParameters without(ConnectionParameters parameters) {
        byte[] data = parameters.privateData();
        return parameters.toBuilder().privateData(Arrays.copyOfRange(data, BYTES, data.length)).build();
    }
}
