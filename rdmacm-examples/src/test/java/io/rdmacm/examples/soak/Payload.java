// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/** Self-describing data: a number, a length, a checksum, and pseudo-random bytes derived from the number. */
final class Payload {
    /** The length of the header in bytes, and so the minimum size. */
    static final int HEADER = 16;

    private static final long LENGTH = 8;
    private static final long CHECKSUM = 12;
    private static final long ODD = 0x9e3779b97f4a7c15L;

    private Payload() {
    }

    /** Fills memory with the payload of a number. */
    static void write(MemorySegment memory, long number) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, number);
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, LENGTH, (int) memory.byteSize());
        long noise = number;
        long at = HEADER;
        for (; at + Long.BYTES <= memory.byteSize(); at += Long.BYTES) {
            noise = noise * ODD + 1;
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, noise);
        }
        for (; at < memory.byteSize(); at++) {
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) ++noise);
        }
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM, checksum(memory));
    }

    /** Throws an exception unless memory holds the whole payload of a number. */
    static void check(MemorySegment memory, long number) throws LossException {
        LossException.unless(memory.byteSize() >= HEADER, "payload %x arrived with %d bytes", number,
                memory.byteSize());
        long found = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        LossException.unless(found == number, "payload %x arrived instead of %x", found, number);
        int length = memory.get(ValueLayout.JAVA_INT_UNALIGNED, LENGTH);
        LossException.unless(length == memory.byteSize(), "payload %x of %d bytes arrived with %d", number, length,
                memory.byteSize());
        LossException.unless(memory.get(ValueLayout.JAVA_INT_UNALIGNED, CHECKSUM) == checksum(memory),
                "the checksum of payload %x, of %d bytes, is wrong", number, length);
    }

    private static int checksum(MemorySegment memory) {
        CRC32C sum = new CRC32C();
        sum.update(memory.asSlice(0, CHECKSUM).asByteBuffer());
        sum.update(memory.asSlice(HEADER).asByteBuffer());
        return (int) sum.getValue();
    }
}
