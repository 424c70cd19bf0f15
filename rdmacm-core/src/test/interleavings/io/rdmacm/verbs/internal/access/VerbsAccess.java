// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.access;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;

/** Stands in for the class of this name. */
public class VerbsAccess {
    private static final VerbsAccess INSTANCE = new VerbsAccess();

    /** Returns the only instance. */
    public static VerbsAccess get() {
        return INSTANCE;
    }

    /** Takes an event of a channel, null if there is none. */
    public CompletionQueue takeEvent(CompletionChannel channel) {
        return channel.take();
    }
}
