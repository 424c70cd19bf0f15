// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;

/**
 * A channel as its selectors see it. There are two kinds: those that are asked by {@link #readyOps()} what can be done,
 * and whose file only says that it is time to ask; and those of sockets, {@link #isReported}, where the events of the
 * file say it all.
 */
public interface Selectable {
    /** A channel with which nothing can be done for the time being. */
    Selectable IDLE = new Selectable() {
        @Override
        public int file() {
            return -1;
        }

        @Override
        public int readyOps() {
            return 0;
        }

        @Override
        public ChannelKeys keys() {
            throw new IllegalStateException("nobody has registered it");
        }
    };

    /**
     * Returns the file that becomes readable when there is something to be done; -1 as long as there is none, because
     * the channel is not connected. The selector that asks keeps the channel from being closed in the meantime.
     */
    int file() throws IOException;

    /**
     * Returns whether the file has to be armed in the selector for each sleep. Otherwise it is watched all the time,
     * and {@link #arm} prepares the channel.
     */
    default boolean isArmedBySelector() {
        return false;
    }

    /** Returns whether the events of the file say what can be done. It is watched for {@link #events} all the time. */
    default boolean isReported() {
        return false;
    }

    /** Returns the events of epoll that stand for operations, 0 if the file need not be watched. */
    default int events(int interest) {
        return 0;
    }

    /** Returns those of the operations that are possible after events of epoll. */
    default int readyOps(int events, int interest) {
        return 0;
    }

    /**
     * Takes what has arrived, and returns the operations of {@link java.nio.channels.SelectionKey} that are possible
     * now. Also makes the file unreadable until something else happens.
     */
    int readyOps();

    /** Prepares the file for a sleep; returns false if {@link #readyOps} has to be asked again first. */
    default boolean arm() throws IOException {
        return true;
    }

    /** Returns the keys of the channel. */
    ChannelKeys keys();

    /** Returns what the channel consists of now, for one that becomes another one when it is connected. */
    default Selectable current() {
        return this;
    }

    /** A key of the channel is not in its selector any more. */
    default void deregistered() throws IOException {
    }
}
