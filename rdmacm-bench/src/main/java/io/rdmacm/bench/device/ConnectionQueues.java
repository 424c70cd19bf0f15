// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;

/**
 * The queues of the connections, as cmtime creates them: a queue pair per connection for one send and one receive; and
 * for all connections two completion queues with a channel each. librdmacm creates these with the first queue pair, and
 * rdma_create_qp(3) writes them into the attributes, which cmtime reuses for all queue pairs.
 */
final class ConnectionQueues implements AutoCloseable {
    private final ProtectionDomain domain;
    private final CompletionChannel sendChannel;
    private final CompletionChannel receiveChannel;
    private final CompletionQueue sent;
    private final CompletionQueue received;
    private final QueuePairInitAttributes attributes;

    ConnectionQueues(VerbsContext context, ProtectionDomain domain) throws RdmaException {
        this.domain = domain;
        sendChannel = context.createCompletionChannel();
        sent = context.createCompletionQueue(1, sendChannel);
        receiveChannel = context.createCompletionChannel();
        received = context.createCompletionQueue(1, receiveChannel);
        attributes = QueuePairInitAttributes.builder().sendCompletionQueue(sent)
                .receiveCompletionQueue(received).maxSendRequests(1)
                .maxReceiveRequests(1).build();
    }

    /** Creates the queue pair of a connection. */
    QueuePair createQueuePair(CmId id) throws RdmaException {
        return id.createQueuePair(domain, attributes);
    }

    /** Closes the completion queues; the queue pairs must be closed before. */
    @Override
    public void close() throws RdmaException {
        received.close();
        receiveChannel.close();
        sent.close();
        sendChannel.close();
    }
}
