// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The keys and values of the load. A value shows which put it comes from, and whether all of it comes from one put. */
final class KvValue {
    /** The minimum length of a value: the number of its key, and the number of the put. */
    static final int MIN_BYTES = 2 * Integer.BYTES;

    private KvValue() {
    }

    /** Returns the key with a number. */
    static byte[] key(int number) {
        return ("key-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] make(int key, int put, int size) {
        byte[] value = new byte[size];
        ByteBuffer.wrap(value).putInt(key).putInt(put);
        for (int i = MIN_BYTES; i < size; i++) {
            value[i] = fill(key, put, i);
        }
        return value;
    }

    /**
     * Returns the number of the put that a value comes from.
     *
     * @throws IOException if it belongs to another key, or does not come from one put as a whole
     */
    static int check(int key, byte[] value, int size) throws IOException {
        if (value == null) {
            throw new IOException("key " + key + " is missing from the store, though it was put there");
        }
        ByteBuffer numbers = ByteBuffer.wrap(value);
        if (value.length != size || numbers.getInt() != key) {
            throw new IOException("a value does not belong to key " + key);
        }
        int put = numbers.getInt();
        for (int i = MIN_BYTES; i < size; i++) {
            if (value[i] != fill(key, put, i)) {
                throw new IOException("a value of key " + key + " differs from put " + put + " at byte " + i);
            }
        }
        return put;
    }

    private static byte fill(int key, int put, int index) {
        return (byte) (key * 31 + put * 17 + index);
    }
}
