// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.rdmacm.bindings.pollfd;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;

/** Waits for a file as a foreign event loop does. */
public final class Readable {
    private Readable() {
    }

    /** Whether a file has become readable in time. */
    public static boolean await(int file, Duration limit) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = pollfd.allocate(arena);
            pollfd.fd(entry, file);
            pollfd.events(entry, (short) Libc.POLLIN);
            return Libc.poll(entry.address(), 1, (int) limit.toMillis()) > 0;
        }
    }
}
