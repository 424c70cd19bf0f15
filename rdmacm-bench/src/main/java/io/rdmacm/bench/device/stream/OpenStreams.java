// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;

/** Connected streams in one process, which has both ends of each. The ends that accept send back what they receive. */
interface OpenStreams extends AutoCloseable {
    /** The bytes that are sent over each stream when it is open, and back. */
    int MESSAGE = 64;
    /** How many connects are under way at the same time. */
    int AT_ONCE = 64;

    /** Opens so many more, and sends a message over each and back. */
    void open(int count) throws IOException, InterruptedException;

    /** Closes all but the first ones; the ends that accepted close theirs some time after. */
    void closeAllBut(int first) throws IOException;

    /** Ends what drives the streams. */
    @Override
    void close() throws IOException;
}
