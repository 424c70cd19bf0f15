// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** One connection of ucmatose, in either role. */
final class UcmatoseNode {
    private static final int BATCH = 8;

    private final CmId id;
    private final Ucmatose options;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final MemoryRegion message;
    private final QueuePair pair;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);

    /** Creates what a connection needs. */
    UcmatoseNode(CmId id, Ucmatose options, Resources open) throws IOException {
        this.id = id;
        this.options = options;
        int entries = Math.max(1, options.messages());
        ProtectionDomain domain = open.add(id.context().allocateProtectionDomain());
        message = open.add(domain.allocate(Math.max(1, options.size()), AccessFlag.LOCAL_WRITE));
        CompletionChannel finished = open.add(id.context().createCompletionChannel());
        sends = open.add(id.context().createCompletionQueue(entries, finished));
        receives = open.add(id.context().createCompletionQueue(entries, finished));
        pair = open.add(id.createQueuePair(domain, QueuePairInitAttributes.builder().sendQueue(sends)
                .receiveQueue(receives).maxSendRequests(entries).maxReceiveRequests(entries).signalAll(true).build()));
    }

    CmId id() {
        return id;
    }

    void connect(byte[] privateData) throws IOException {
        id.connect(ConnectionParameters.builder().privateData(privateData).responderResources(1).initiatorDepth(1)
                .retryCount(5).rnrRetryCount(0).build());
    }

    void accept() throws IOException {
        id.accept(ConnectionParameters.defaults());
    }

    void awaitEstablished() throws IOException, InterruptedException {
        id.channel().await(id, CmEventType.ESTABLISHED, options.timeout()).close();
    }

    /** Posts receives for all messages of the peer, which may arrive as soon as the connection is established. */
    void postReceives() throws IOException {
        ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0).data(message, 0, options.size());
        for (int i = 0; i < options.messages(); i++) {
            pair.postReceive(receive);
        }
    }

    void postSends() throws IOException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).send().data(message, 0, options.size());
        for (int i = 0; i < options.messages(); i++) {
            pair.postSend(send);
        }
    }

    void awaitSends() throws IOException, InterruptedException {
        await(sends);
    }

    void awaitReceives() throws IOException, InterruptedException {
        await(receives);
    }

    private void await(CompletionQueue queue) throws IOException, InterruptedException {
        int done = 0;
        while (done < options.messages()) {
            done += Transfers.await(queue, completions, done, options.messages(), options.timeout());
            while (completions.next()) {
                check(queue);
            }
        }
    }

    private void check(CompletionQueue queue) throws IOException {
        if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection before all messages were complete");
        }
        completions.check();
        if (queue == receives && completions.byteLength() != options.size()) {
            throw new IOException("a message of " + completions.byteLength() + " bytes arrived, not of "
                    + options.size() + ": give both sides the same -S");
        }
    }
}
