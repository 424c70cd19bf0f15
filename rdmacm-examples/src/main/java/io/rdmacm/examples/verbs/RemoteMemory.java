// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;

/**
 * Memory of the server that the client of {@link RcExample} reads and writes, and the text that names it.
 *
 * @param address the address in the owner's process
 * @param key the remote key
 */
record RemoteMemory(long address, int key) {
    /** The length of the text. */
    static final int BYTES = 24;

    String toText() {
        return String.format("%016x%08x", address, key);
    }

    static RemoteMemory of(String text) throws IOException {
        try {
            return new RemoteMemory(Long.parseUnsignedLong(text, 0, 16, 16),
                    Integer.parseUnsignedInt(text, 16, BYTES, 16));
        } catch (NumberFormatException e) {
            throw new IOException("the peer did not say where its memory is", e);
        }
    }
}
