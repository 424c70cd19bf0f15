// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.util.zip.CRC32;

/** Counts messages, and their bytes, and sums them up. */
final class Tally {
    private final CRC32 sum = new CRC32();
    private int messages;
    private long bytes;

    void add(byte[] message) {
        messages++;
        bytes += message.length;
        sum.update(message);
    }

    /** {@return a line in which two tallies of the same bytes agree} */
    @Override
    public String toString() {
        return "%d messages, %d bytes, CRC-32 %08x".formatted(messages, bytes, sum.getValue());
    }
}
