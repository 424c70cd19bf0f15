// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.nio.ByteBuffer;
import java.util.Arrays;

import io.rdmacm.core.ConnectionParameters;
import org.jspecify.annotations.Nullable;

/**
 * What two peers of this library tell each other in front of the program's private data, where both programs ask for
 * it.
 *
 * @param messageSize the size in bytes of the largest message that the side receives as one send
 * @param largeSize the size of the largest message that it reads, 0 for none
 * @param largeMessages how many of these can be announced to it at a time
 */
record AgreedSizes(int messageSize, int largeSize, int largeMessages) {
    private static final int MAGIC = 0x726d4a31;
    private static final int MAGIC_LARGE = 0x726d4a32;
    private static final int BYTES = 2 * Integer.BYTES;
    private static final int BYTES_LARGE = 4 * Integer.BYTES;

    /**
     * Checks that the private data of the program fit, with the sizes in front of them if the settings tell any.
     *
     * @param limit how many bytes the call takes
     */
    static void requireRoom(ConnectionSettings settings, ConnectionParameters parameters, String call, int limit) {
        int told = settings.largeMessages() > 0 ? BYTES_LARGE : settings.agreedSizes() ? BYTES : 0;
        int length = parameters.privateData().length;
        if (length > limit - told) {
            throw new IllegalArgumentException(call + " takes at most " + (limit - told) + " bytes of private data"
                    + (told > 0 ? " beside " + told + " for agreed sizes" : "") + ", not " + length);
        }
    }

    boolean hasLarge() {
        return largeMessages > 0;
    }

    private int bytes() {
        return hasLarge() ? BYTES_LARGE : BYTES;
    }

    /** Puts the sizes in front of the private data. */
    ConnectionParameters before(ConnectionParameters parameters) {
        byte[] own = parameters.privateData();
        ByteBuffer data = ByteBuffer.allocate(bytes() + own.length).putInt(hasLarge() ? MAGIC_LARGE : MAGIC)
                .putInt(messageSize);
        if (hasLarge()) {
            data.putInt(largeSize).putInt(largeMessages);
        }
        return parameters.toBuilder().privateData(data.put(own).array()).build();
    }

    /** Returns the sizes in front of the private data, null if the peer has put none there. */
    static @Nullable AgreedSizes in(ConnectionParameters parameters) {
        ByteBuffer data = ByteBuffer.wrap(parameters.privateData());
        int magic = data.remaining() < BYTES ? 0 : data.getInt();
        AgreedSizes sizes = null;
        if (magic == MAGIC) {
            sizes = new AgreedSizes(data.getInt(), 0, 0);
        } else if (magic == MAGIC_LARGE && data.capacity() >= BYTES_LARGE) {
            sizes = new AgreedSizes(data.getInt(), data.getInt(), data.getInt());
        }
        // Data of the program may begin like that, too.
        return sizes != null && sizes.messageSize >= 0
                && (magic == MAGIC || sizes.largeSize > 0 && sizes.largeMessages > 0) ? sizes : null;
    }

    /** Returns the parameters without these sizes, which are there. */
    ConnectionParameters cutFrom(ConnectionParameters parameters) {
        byte[] data = parameters.privateData();
        return parameters.toBuilder().privateData(Arrays.copyOfRange(data, bytes(), data.length)).build();
    }
}
