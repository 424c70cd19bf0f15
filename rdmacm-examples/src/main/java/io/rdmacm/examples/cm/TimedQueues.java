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
 * The queue pairs of cmtime, with all that the connection manager of C makes by itself for each that is given none: a
 * completion queue and a channel for sends, and for receives.
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
