// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The address and the remote keys of a peer's memory, as sent in a message. */
record RemoteKeys(long address, int readKey, int writeKey) {
    static final int SIZE = 16;

    private static final long READ = 8;
    private static final long WRITE = 12;

    static RemoteKeys read(MemorySegment memory) {
        return new RemoteKeys(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0),
                memory.get(ValueLayout.JAVA_INT_UNALIGNED, READ), memory.get(ValueLayout.JAVA_INT_UNALIGNED, WRITE));
    }

    void write(MemorySegment memory) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, address);
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, READ, readKey);
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, WRITE, writeKey);
    }
}
