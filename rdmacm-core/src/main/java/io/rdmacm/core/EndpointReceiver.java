// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.jspecify.annotations.Nullable;

/** Posts the receives of an endpoint: to the shared receive queue, if it has one. */
final class EndpointReceiver extends EndpointDirection {
    private final ReceiveRequest request;
    // null when receives are posted to the queue pair itself
    private final @Nullable SharedReceiveQueue shared;

    private EndpointReceiver(QueuePair queuePair, @Nullable EndpointCompletions completions, int maxEntries) {
        super("receive", queuePair, completions, maxEntries);
        this.request = ReceiveRequests.allocate(1, Math.max(1, maxEntries)).get(0);
        this.shared = queuePair.sharedReceiveQueue().orElse(null);
    }

    static EndpointReceiver create(QueuePair queuePair, @Nullable EndpointCompletions completions,
            QueuePairCapabilities requested) {
        // A queue pair that uses a shared receive queue has no receives of its own, so the limits that the device
        // reports for them are meaningless.
        QueuePairCapabilities limits = queuePair.sharedReceiveQueue().isPresent()
                ? requested : queuePair.capabilities();
        return new EndpointReceiver(queuePair, completions, limits.maxReceiveScatterGather());
    }

    void post(long context, MemoryRegion region, long offset, long length) throws RdmaException {
        Bias bias = enter();
        try {
            request.id(context).data(region, offset, length);
            post();
        } finally {
            leave(bias);
        }
    }

    void post(long context, ScatterGatherList list) throws RdmaException {
        requireFits(list);
        Bias bias = enter();
        try {
            list.writeTo(request.id(context));
            post();
        } finally {
            leave(bias);
        }
    }

    private void post() throws RdmaException {
        if (shared != null) {
            // not counted, because it may complete on any of the queue pairs that share the queue
            shared.postReceive(request);
            return;
        }
        queuePair.postReceive(request);
        posted();
    }
}
