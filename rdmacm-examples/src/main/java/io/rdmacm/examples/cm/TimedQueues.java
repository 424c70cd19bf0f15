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
 * The queue pairs of cmtime. rdma_create_qp(3) gives each queue pair that is created without completion queues two of
 * them, for sends and for receives, each with a channel of its own; so does this class.
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
