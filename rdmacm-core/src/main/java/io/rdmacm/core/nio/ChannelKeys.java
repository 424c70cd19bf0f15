// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.util.Arrays;

/** The keys of a channel, one for each selector that it is registered with. */
final class ChannelKeys {
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
     * Makes sure that no selector misses anything. To be called after everything that may have taken something that a
     * selector would be woken by: data may have arrived while this thread was writing, and the file is not readable any
     * more.
     */
    void touch() {
        for (RdmaSelectionKey key : keys) {
            key.touch();
        }
    }

    /** Like {@link #touch}, for the selector of a key, which has looked by itself. */
    void touchOthers(RdmaSelectionKey own) {
        RdmaSelectionKey[] all = keys;
        if (all.length > 1) {
            for (RdmaSelectionKey key : all) {
                if (key != own) {
                    key.touch();
                }
            }
        }
    }

    /** Has the selectors look at a channel that has changed: it has a file now, or other operations are possible. */
    void renew() {
        for (RdmaSelectionKey key : keys) {
            key.renew();
        }
    }

    /** Removes the file of the channel, which is about to be closed, from all selectors. */
    synchronized void close() {
        closed = true;
        for (RdmaSelectionKey key : keys) {
            key.detach();
        }
    }
}
