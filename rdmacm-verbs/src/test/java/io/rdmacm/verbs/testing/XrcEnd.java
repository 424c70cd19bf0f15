// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.XrcDomain;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import org.junit.jupiter.api.Assumptions;

/**
 * One of two ends of extended reliable connections: queue pairs that send, as many that receive, and the one shared
 * receive queue whose number the messages name.
 */
public final class XrcEnd implements AutoCloseable {
    public static final int PAIRS = 2;
    private static final int LENGTH = 1024;
    private static final int DEPTH = 16;
    private static final int MTU = 1024;
    private static final int PACKET_NUMBER = 0x654321;
    private static final AccessFlag[] REMOTE = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
        AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC};

    public final VerbsContext context;
    public final MemoryRegion region;
    public final CompletionQueue queue;
    public final SharedReceiveQueue shared;
    public final List<QueuePair> senders = new ArrayList<>();
    public final List<QueuePair> receivers = new ArrayList<>();
    private final Deque<NativeObject> owned = new ArrayDeque<>();
    private final Options options;
    private final CompletionWaiter waiter;
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    /**
     * What an end is made of.
     *
     * @param extendedQueue whether the completions are read in place
     * @param operations of queue pairs that post in batches; empty for the classic ones
     * @param access of the region
     */
    public record Options(boolean extendedQueue, Set<SendOperation> operations, AccessFlag... access) {
        public static Options of(AccessFlag... access) {
            return new Options(false, Set.of(), access);
        }
    }

    /**
     * An end, whose queue pairs are in RESET.
     *
     * @param opened becomes this end's
     */
    public XrcEnd(VerbsContext opened, Options options) throws RdmaException {
        this.options = options;
        boolean complete = false;
        try {
            context = own(opened);
            XrcDomain xrc = own(openDomain());
            ProtectionDomain domain = own(context.allocateProtectionDomain());
            region = own(domain.allocate(LENGTH, options.access()));
            CompletionChannel channel = own(context.createCompletionChannel());
            queue = own(options.extendedQueue()
                    ? context.createExtendedCompletionQueue(
                            CompletionQueueInitAttributes.builder(4 * DEPTH).channel(channel).build())
                    : context.createCompletionQueue(4 * DEPTH, channel));
            waiter = new CompletionWaiter(queue);
            shared = own(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder()
                    .maxRequests(DEPTH).xrc(xrc, queue).build()));
            for (int i = 0; i < PAIRS; i++) {
                receivers.add(own(xrc.createQueuePair(
                        QueuePairInitAttributes.builder().type(QueuePairType.XRC_RECV).build())));
                senders.add(own(domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.XRC_SEND)
                        .sendCompletionQueue(queue).maxSendRequests(DEPTH).maxReceiveRequests(0)
                        .maxReceiveScatterGather(0)
                        .sendOperations(options.operations()).build())));
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    private XrcDomain openDomain() throws RdmaException {
        try {
            return context.openXrcDomain();
        } catch (RdmaUnsupportedException e) {
            return Assumptions.abort("the device has no extended reliable connections: " + e.getMessage());
        }
    }

    private <T extends NativeObject> T own(T object) {
        owned.push(object);
        return object;
    }

    /** Connects the queue pairs that send to those of the peer that receive; the peer must do the same. */
    public void connect(XrcEnd peer, AddressAttributes path) throws RdmaException {
        for (int i = 0; i < PAIRS; i++) {
            QueuePair receiver = receivers.get(i);
            receiver.modify(QueuePairTransitions.XrcReceive.resetToInit(TrafficEnd.PORT, 0, REMOTE));
            receiver.modify(QueuePairTransitions.XrcReceive.initToRtr(path, MTU, peer.senders.get(i).number(),
                    PACKET_NUMBER, 4, RnrTimer.ofCode(12)));
            receiver.modify(QueuePairTransitions.XrcReceive.rtrToRts(PACKET_NUMBER, AckTimeout.ofCode(14)));
            QueuePair sender = senders.get(i);
            sender.modify(QueuePairTransitions.XrcSend.resetToInit(TrafficEnd.PORT, 0));
            sender.modify(QueuePairTransitions.XrcSend.initToRtr(path, MTU, peer.receivers.get(i).number(),
                    PACKET_NUMBER));
            sender.modify(QueuePairTransitions.XrcSend.rtrToRts(PACKET_NUMBER, AckTimeout.ofCode(14), 7, 7, 4));
        }
    }

    /** A message to the peer by one of the queue pairs. */
    public void message(XrcEnd peer, int pair, byte value, boolean withImmediate) throws Exception {
        peer.shared.postReceive(peer.receive.id(value).data(peer.region, 0, LENGTH));
        region.memory().fill(value);
        send(peer, pair, withImmediate, ~value);
        waiter.success();
        WorkCompletion received = peer.waiter.success();
        assertThat(received.workRequestId()).isEqualTo(value);
        assertThat(received.byteLength()).isEqualTo(LENGTH);
        if (withImmediate) {
            assertThat(received.immediate()).isEqualTo(~value);
        }
        assertThat(peer.region.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(value);
    }

    private void send(XrcEnd peer, int pair, boolean withImmediate, int immediate) throws RdmaException {
        if (options.operations().isEmpty()) {
            SendRequest request = withImmediate ? send.sendWithImmediate(immediate) : send.send();
            senders.get(pair).postSend(request.remoteSharedReceiveQueue(peer.shared.number())
                    .data(region, 0, LENGTH));
            return;
        }
        try (SendBatch batch = senders.get(pair).startBatch()) {
            (withImmediate ? batch.sendWithImmediate(immediate) : batch.send())
                    .remoteSharedReceiveQueue(peer.shared.number()).data(region, 0, LENGTH);
            batch.complete();
        }
    }

    /** Does a request to the peer by one of the queue pairs, and waits for its success. */
    public MemoryTraffic.Requester requester(XrcEnd peer, int pair) {
        return change -> {
            senders.get(pair).postSend(change.apply(send.remoteSharedReceiveQueue(peer.shared.number())));
            waiter.success();
        };
    }

    @Override
    public void close() throws RdmaException {
        while (!owned.isEmpty()) {
            owned.pop().close();
        }
    }
}
