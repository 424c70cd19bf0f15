// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.util.Arrays;

/** The keys of a channel, one for each selector that it is registered with. */
public final class ChannelKeys {
    private static final RdmaSelectionKey[] NONE = {};

    private volatile RdmaSelectionKey[] keys = NONE;
    // guarded by this
    private boolean closed;

    synchronized void add(RdmaSelectionKey key) {
        RdmaSelectionKey[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
        if (closed) {
            key.detach();
        }
    }

    synchronized void remove(RdmaSelectionKey key) {
        keys = Arrays.stream(keys).filter(other -> other != key).toArray(RdmaSelectionKey[]::new);
    }

    /**
     * Has the selectors check the channel again, so that none misses anything. To be called after everything that may
     * have taken something that a selector would be woken by: data may have arrived while this thread was writing, and
     * the file is not readable any more.
     */
    public void recheck() {
        for (RdmaSelectionKey key : keys) {
            key.recheck();
        }
    }

    /** Like {@link #recheck}, except for the selector of a key, which has just checked. */
    void recheckOthers(RdmaSelectionKey own) {
        RdmaSelectionKey[] all = keys;
        if (all.length > 1) {
            for (RdmaSelectionKey key : all) {
                if (key != own) {
                    key.recheck();
                }
            }
        }
    }

    /** Tells the selectors that the channel has changed: it has a file now, or other operations are possible. */
    public void changed() {
        for (RdmaSelectionKey key : keys) {
            key.channelChanged();
        }
    }

    /** Removes the file of the channel from all selectors; it gets another one, and then {@link #changed} is called. */
    public synchronized void release() {
        for (RdmaSelectionKey key : keys) {
            key.release();
        }
    }

    /** Removes the file of the channel, which is about to be closed, from all selectors. */
    public synchronized void close() {
        closed = true;
        for (RdmaSelectionKey key : keys) {
            key.detach();
        }
    }
}
