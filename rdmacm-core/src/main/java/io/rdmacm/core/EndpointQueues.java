// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairCapabilities;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendFlag;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.internal.Bias;
import io.rdmacm.verbs.internal.BiasedLock;
import io.rdmacm.verbs.internal.Lifetime;

/** The queue pair of an endpoint, the completion queues that were made for it, and the work requests to post. */
final class EndpointQueues {
    private final QueuePair queuePair;
    // null when receives are posted to the queue pair itself
    private final SharedReceiveQueue shared;
    // null where the completion queue is the caller's
    private final EndpointCompletions sendCompletions;
    private final EndpointCompletions receiveCompletions;
    private final boolean signalAll;
    private final int maxSendEntries;
    private final int maxReceiveEntries;
    // One request a direction, filled in and posted by one thread at a time.
    private final BiasedLock sends = new BiasedLock("Endpoint");
    private final BiasedLock receives = new BiasedLock("Endpoint");
    private final SendRequest send;
    private final ReceiveRequest receive;

    private EndpointQueues(QueuePair queuePair, EndpointCompletions sendCompletions,
            EndpointCompletions receiveCompletions, EndpointAttributes attributes) {
        this.queuePair = queuePair;
        this.shared = queuePair.sharedReceiveQueue().orElse(null);
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.signalAll = attributes.signalAll();
        QueuePairCapabilities sizes = queuePair.capabilities();
        this.maxSendEntries = sizes.maxSendScatterGather();
        // what a device tells of the receives of a queue pair that has none of its own says nothing
        this.maxReceiveEntries = shared == null
                ? sizes.maxReceiveScatterGather()
                : attributes.capabilities().maxReceiveScatterGather();
        this.send = SendRequests.allocate(1, Math.max(1, maxSendEntries)).get(0);
        this.receive = ReceiveRequests.allocate(1, Math.max(1, maxReceiveEntries)).get(0);
    }

    static EndpointQueues create(Lifetime owner, CmId id, ProtectionDomain domain, EndpointAttributes attributes)
            throws RdmaException {
        EndpointCompletions sends = null;
        EndpointCompletions receives = null;
        QueuePair pair = null;
        boolean made = false;
        try {
            QueuePairCapabilities sizes = attributes.capabilities();
            if (attributes.receiveQueue().isEmpty()) {
                receives = EndpointCompletions.create(owner, id, sizes.maxReceiveRequests());
            }
            if (attributes.sendQueue().isEmpty()) {
                sends = EndpointCompletions.create(owner, id, sizes.maxSendRequests());
            }
            pair = id.createQueuePair(domain, QueuePairInitAttributes.builder()
                    .type(id.portSpace().queuePairType())
                    .sendQueue(queueOf(sends, attributes.sendQueue().orElse(null)))
                    .receiveQueue(queueOf(receives, attributes.receiveQueue().orElse(null)))
                    .maxSendRequests(sizes.maxSendRequests()).maxReceiveRequests(sizes.maxReceiveRequests())
                    .maxSendScatterGather(sizes.maxSendScatterGather())
                    .maxReceiveScatterGather(sizes.maxReceiveScatterGather())
                    .maxInlineData(sizes.maxInlineData()).signalAll(attributes.signalAll()).build());
            // there may be no memory for requests with so many entries
            EndpointQueues queues = new EndpointQueues(pair, sends, receives, attributes);
            made = true;
            return queues;
        } finally {
            if (!made) {
                if (pair != null) {
                    pair.close();
                }
                close(sends);
                close(receives);
            }
        }
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** All that ends with it. */
    List<NativeObject> parts() {
        return Stream.of(Stream.of(queuePair), parts(sendCompletions), parts(receiveCompletions))
                .<NativeObject>flatMap(Function.identity()).toList();
    }

    private static Stream<NativeObject> parts(EndpointCompletions completions) {
        return completions == null ? Stream.of() : completions.parts();
    }

    EndpointCompletions sendCompletions() {
        return owned(sendCompletions, "send");
    }

    EndpointCompletions receiveCompletions() {
        return owned(receiveCompletions, "receive");
    }

    void postReceive(long context, MemoryRegion region, long offset, int length) throws RdmaException {
        Bias claim = receives.enter();
        try {
            post(receive.id(context).data(region, offset, length));
        } finally {
            receives.leave(claim);
        }
    }

    void postReceive(long context, ScatterGatherList list) throws RdmaException {
        requireFits(list, maxReceiveEntries);
        Bias claim = receives.enter();
        try {
            receive.id(context).noData();
            for (int i = 0; i < list.size(); i++) {
                receive.data(i, list.region(i), list.offset(i), list.length(i));
            }
            post(receive);
        } finally {
            receives.leave(claim);
        }
    }

    void postSend(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags)
            throws RdmaException {
        Bias claim = sends.enter();
        try {
            post(send.id(context).send().data(region, offset, length), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postSend(long context, ScatterGatherList list, Set<SendFlag> flags) throws RdmaException {
        requireFits(list, maxSendEntries);
        Bias claim = sends.enter();
        try {
            post(fill(send.id(context).send(), list), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postRead(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            long remoteAddress, int remoteKey) throws RdmaException {
        Bias claim = sends.enter();
        try {
            post(send.id(context).rdmaRead(remoteAddress, remoteKey).data(region, offset, length), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postRead(long context, ScatterGatherList list, Set<SendFlag> flags, long remoteAddress, int remoteKey)
            throws RdmaException {
        requireFits(list, maxSendEntries);
        Bias claim = sends.enter();
        try {
            post(fill(send.id(context).rdmaRead(remoteAddress, remoteKey), list), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postWrite(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            long remoteAddress, int remoteKey) throws RdmaException {
        Bias claim = sends.enter();
        try {
            post(send.id(context).rdmaWrite(remoteAddress, remoteKey).data(region, offset, length), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postWrite(long context, ScatterGatherList list, Set<SendFlag> flags, long remoteAddress, int remoteKey)
            throws RdmaException {
        requireFits(list, maxSendEntries);
        Bias claim = sends.enter();
        try {
            post(fill(send.id(context).rdmaWrite(remoteAddress, remoteKey), list), flags);
        } finally {
            sends.leave(claim);
        }
    }

    void postDatagram(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            AddressHandle peer, int peerQueuePairNumber) throws RdmaException {
        Bias claim = sends.enter();
        try {
            post(send.id(context).send().datagram(peer, peerQueuePairNumber, Rdma.RDMA_UDP_QKEY())
                    .data(region, offset, length), flags);
        } finally {
            sends.leave(claim);
        }
    }

    /** Whoever waits for completions looks again. */
    void wake() {
        if (sendCompletions != null) {
            sendCompletions.wake();
        }
        if (receiveCompletions != null) {
            receiveCompletions.wake();
        }
    }

    void close() throws RdmaException {
        queuePair.close();
        close(sendCompletions);
        close(receiveCompletions);
    }

    private void post(ReceiveRequest request) throws RdmaException {
        if (shared != null) {
            // it may complete on any queue pair that shares
            shared.postReceive(request);
            return;
        }
        queuePair.postReceive(request);
        if (receiveCompletions != null) {
            receiveCompletions.posted();
        }
    }

    private void post(SendRequest request, Set<SendFlag> flags) throws RdmaException {
        queuePair.postSend(request.flags(flags));
        if (sendCompletions != null && (signalAll || flags.contains(SendFlag.SIGNALED))) {
            sendCompletions.posted();
        }
    }

    private static SendRequest fill(SendRequest request, ScatterGatherList list) {
        request.noData();
        for (int i = 0; i < list.size(); i++) {
            request.data(i, list.region(i), list.offset(i), list.length(i));
        }
        return request;
    }

    private static void requireFits(ScatterGatherList list, int limit) {
        if (list.size() > limit) {
            throw new IllegalArgumentException("a list of " + list.size()
                    + " parts on a queue pair that takes " + limit);
        }
    }

    private static CompletionQueue queueOf(EndpointCompletions made, CompletionQueue given) {
        return made == null ? given : made.queue();
    }

    private static EndpointCompletions owned(EndpointCompletions completions, String direction) {
        if (completions == null) {
            throw new IllegalStateException("the " + direction + " completion queue is the caller's, not the"
                    + " endpoint's: wait for its completions with CompletionQueue.await");
        }
        return completions;
    }

    private static void close(EndpointCompletions completions) throws RdmaException {
        if (completions != null) {
            completions.close();
        }
    }
}
