// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.RdmaException;

/**
 * What cmtime makes for each connection: a queue pair for one send and one receive, two completion queues, and a
 * channel for each of them.
 */
final class ConnectionEnd implements AutoCloseable {
    private final CompletionChannel sendChannel;
    private final CompletionChannel receiveChannel;
    private final CompletionQueue sent;
    private final CompletionQueue received;
    private final QueuePair queuePair;

    ConnectionEnd(CmId id, ProtectionDomain domain) throws RdmaException {
        sendChannel = id.context().createCompletionChannel();
        sent = id.context().createCompletionQueue(1, sendChannel);
        receiveChannel = id.context().createCompletionChannel();
        received = id.context().createCompletionQueue(1, receiveChannel);
        queuePair = id.createQueuePair(domain, QueuePairInitAttributes.builder().sendQueue(sent)
                .receiveQueue(received).maxSendRequests(1).maxReceiveRequests(1).build());
    }

    @Override
    public void close() throws RdmaException {
        queuePair.close();
        received.close();
        receiveChannel.close();
        sent.close();
        sendChannel.close();
    }
}
