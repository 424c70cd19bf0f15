// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;

/** What a link needs of its channel. Called in the thread of the event loop. */
interface LoopChannel {
    /** Returns the file to watch. */
    int file() throws IOException;

    /** Does what can be done now; returns whether there was anything. */
    boolean progress();

    /** Returns whether {@link #progress} would find something to do. */
    boolean hasNews();

    /**
     * Prepares the file for a sleep, right after {@link #progress} found nothing to do; returns false if there may be
     * something by now.
     */
    boolean arm();

    /** Returns how many nanoseconds to poll before the file is armed, in an event loop that does not poll itself. */
    long spinNanos();

    /** The event loop is ending. */
    void closeForLoop();
}
