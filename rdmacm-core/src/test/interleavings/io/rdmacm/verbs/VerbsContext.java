// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

/** Stands in for the class of this name, in plain Java: a device. */
public final class VerbsContext {
    /** Creates a channel. */
    public CompletionChannel createCompletionChannel() {
        return CompletionChannel.open();
    }

    /** Creates a queue. */
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel) {
        return new CompletionQueue(capacity, channel);
    }
}
