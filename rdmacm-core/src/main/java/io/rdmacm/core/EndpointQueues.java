// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair of an endpoint and its two directions, with the completion queues that were created for it.
 *
 * @param queuePair closed with the endpoint
 * @param sender posts sends, reads and writes
 * @param receiver posts receives
 */
record EndpointQueues(QueuePair queuePair, EndpointSender sender, EndpointReceiver receiver) {
    static EndpointQueues create(Lifetime owner, CmId id, ProtectionDomain domain, EndpointAttributes attributes)
            throws RdmaException {
        QueuePairCapabilities sizes = attributes.capabilities();
        EndpointCompletions sends = null;
        EndpointCompletions receives = null;
        try (Parts parts = new Parts()) {
            if (attributes.receiveQueue().isEmpty()) {
                receives = parts.add(EndpointCompletions.create("rdma_get_recv_comp", owner, id,
                        sizes.maxReceiveRequests()), EndpointCompletions::close);
            }
            if (attributes.sendQueue().isEmpty()) {
                sends = parts.add(EndpointCompletions.create("rdma_get_send_comp", owner, id,
                        sizes.maxSendRequests()), EndpointCompletions::close);
            }
            QueuePair pair = parts.add(id.createQueuePair(domain, QueuePairInitAttributes.builder()
                    .type(id.portSpace().queuePairType())
                    .sendQueue(queueOf(sends, attributes.sendQueue()))
                    .receiveQueue(queueOf(receives, attributes.receiveQueue()))
                    .maxSendRequests(sizes.maxSendRequests()).maxReceiveRequests(sizes.maxReceiveRequests())
                    .maxSendScatterGather(sizes.maxSendScatterGather())
                    .maxReceiveScatterGather(sizes.maxReceiveScatterGather())
                    .maxInlineData(sizes.maxInlineData()).signalAll(attributes.signalAll()).build()),
                    QueuePair::close);
            // there may be no memory for requests with so many entries
            return parts.complete(new EndpointQueues(pair, new EndpointSender(pair, sends, attributes.signalAll()),
                    EndpointReceiver.create(pair, receives, sizes)));
        }
    }

    /** The native objects that are closed with it. */
    List<NativeObject> parts() {
        return Stream.of(Stream.of(queuePair), sender.parts(), receiver.parts())
                .<NativeObject>flatMap(Function.identity()).toList();
    }

    /** Wakes threads that wait for completions. */
    void wake() {
        sender.wake();
        receiver.wake();
    }

    void close() throws RdmaException {
        queuePair.close();
        sender.closeCompletions();
        receiver.closeCompletions();
    }

    private static CompletionQueue queueOf(@Nullable EndpointCompletions made,
            Optional<CompletionQueue> given) {
        return made == null ? given.orElseThrow() : made.queue();
    }
}
