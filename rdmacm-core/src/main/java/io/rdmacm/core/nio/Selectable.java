// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;

/** A channel as its selectors see it. */
interface Selectable {
    /**
     * Returns the file that becomes readable when there is something to be done; -1 as long as there is none, because
     * the channel is not connected. The selector that asks keeps the channel from being closed in the meantime.
     */
    int file() throws IOException;

    /**
     * Returns whether the file has to be armed in the selector for each sleep. Otherwise it is watched all the time,
     * and {@link #arm} prepares the channel.
     */
    boolean isArmedBySelector();

    /**
     * Takes what has arrived, and returns the operations of {@link java.nio.channels.SelectionKey} that are possible
     * now. Also makes the file unreadable until something else happens.
     */
    int readyOps();

    /** Prepares the file for a sleep; returns false if {@link #readyOps} has to be asked again first. */
    boolean arm() throws IOException;

    /** Returns the keys of the channel. */
    ChannelKeys keys();
}
