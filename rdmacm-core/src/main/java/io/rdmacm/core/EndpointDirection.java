// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.stream.Stream;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.BiasedLock;
import org.jspecify.annotations.Nullable;

/**
 * One direction of an endpoint: its completions, and how many parts of memory one of its requests can have. It is the
 * lock of the one request that all its posts use, which is filled in and posted by one thread at a time.
 */
abstract sealed class EndpointDirection extends BiasedLock permits EndpointSender, EndpointReceiver {
    final QueuePair queuePair;
    final int maxEntries;
    private final String name;
    // null when the program provides the completion queue
    private final @Nullable EndpointCompletions completions;

    EndpointDirection(String name, QueuePair queuePair, @Nullable EndpointCompletions completions, int maxEntries) {
        super("Endpoint");
        this.name = name;
        this.queuePair = queuePair;
        this.completions = completions;
        this.maxEntries = maxEntries;
    }

    /** Returns the completions; throws an exception when the program provides their queue. */
    final EndpointCompletions completions() {
        if (completions == null) {
            throw new IllegalStateException("the " + name + " completion queue was not created by the"
                    + " endpoint: wait for its completions with CompletionQueue.await");
        }
        return completions;
    }

    /** Counts a request that was posted and will produce a completion. */
    final void posted() {
        if (completions != null) {
            completions.posted();
        }
    }

    final void requireFits(ScatterGatherList list) {
        if (list.size() > maxEntries) {
            throw new IllegalArgumentException("a list of " + list.size()
                    + " parts on a queue pair that allows at most " + maxEntries);
        }
    }

    /** Wakes threads that wait for completions. */
    final void wake() {
        if (completions != null) {
            completions.wake();
        }
    }

    /** The native objects that are closed with it. */
    final Stream<NativeObject> parts() {
        return completions == null ? Stream.of() : completions.parts();
    }

    /** Frees what belongs to this direction; after the queue pair is closed, and when nobody waits. */
    final void closeCompletions() throws RdmaException {
        if (completions != null) {
            completions.close();
        }
    }
}
