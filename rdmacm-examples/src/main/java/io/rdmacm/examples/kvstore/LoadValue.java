// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The keys and values of the load: whoever gets a value can tell whether all of it is of one put, and of which. */
final class LoadValue {
    /** A value has at least the number of its key, and that of its put. */
    static final int LEAST = 2 * Integer.BYTES;

    private LoadValue() {
    }

    static byte[] key(int number) {
        return ("key-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] make(int key, int put, int size) {
        byte[] value = new byte[size];
        ByteBuffer.wrap(value).putInt(key).putInt(put);
        for (int i = LEAST; i < size; i++) {
            value[i] = fill(key, put, i);
        }
        return value;
    }

    /**
     * Of which put a value is.
     *
     * @throws IOException when it is not of the key, or not all of it of one put
     */
    static int check(int key, byte[] value, int size) throws IOException {
        if (value == null) {
            throw new IOException("key " + key + " is not in the store, where it was put");
        }
        ByteBuffer numbers = ByteBuffer.wrap(value);
        if (value.length != size || numbers.getInt() != key) {
            throw new IOException("a value that is not of key " + key);
        }
        int put = numbers.getInt();
        for (int i = LEAST; i < size; i++) {
            if (value[i] != fill(key, put, i)) {
                throw new IOException("a value of key " + key + " that differs from put " + put + " at byte " + i);
            }
        }
        return put;
    }

    private static byte fill(int key, int put, int index) {
        return (byte) (key * 31 + put * 17 + index);
    }
}
