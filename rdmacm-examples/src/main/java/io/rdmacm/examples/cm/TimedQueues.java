// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.CmId;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;

/**
 * The queue pairs of cmtime. If no completion queues are passed to rdma_create_qp(3), it creates one for sends and one
 * for receives, each with a channel of its own; so does this class.
 */
final class TimedQueues {
    private TimedQueues() {
    }

    static void create(CmId id, ProtectionDomain domain, Resources open) throws IOException {
        VerbsContext device = id.context();
        CompletionChannel received = open.add(device.createCompletionChannel());
        CompletionChannel sent = open.add(device.createCompletionChannel());
        open.add(id.createQueuePair(domain, QueuePairInitAttributes.builder()
                .receiveQueue(open.add(device.createCompletionQueue(1, received)))
                .sendQueue(open.add(device.createCompletionQueue(1, sent)))
                .maxSendRequests(1).maxReceiveRequests(1).build()));
    }
}
