// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.ArrayDeque;
import java.util.Deque;

import io.rdmacm.bench.device.machine.PeerAddress;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One end of a measurement, with the same queues and attributes as perftest. Its region has two halves: the source of
 * its operations, and the target of the peer's writes and of its own receives.
 */
final class End implements AutoCloseable {
    // the values of perftest
    private static final int QUEUE_KEY = 0x11111111;
    private static final RnrTimer MIN_RNR_TIMER = RnrTimer.ofCode(12);
    private static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    private static final int RETRIES = 7;
    private static final int ROUTE_HEADER = 40;
    private static final int ALIGNMENT = 4096;

    private final Measurement measurement;
    private final Port port;
    private final int receives;
    private final int half;
    private final Deque<NativeObject> resources = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final CompletionQueue sent;
    private final CompletionQueue received;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final SendRequest request = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    /**
     * Creates an end that is not connected yet.
     *
     * @param measurement the measurement
     * @param messages how many messages it will receive, if any
     */
    End(Measurement measurement, int messages) throws Exception {
        this.measurement = measurement;
        this.port = Port.find();
        this.receives = measurement.receives(messages);
        this.half = (measurement.size() + ROUTE_HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        boolean complete = false;
        try {
            VerbsContext context = own(port.device().open());
            domain = own(context.allocateProtectionDomain());
            sent = queue(context, measurement.depth());
            received = queue(context, receives);
            region = own(domain.allocate(2L * half, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                    AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
            queuePair = own(domain.createQueuePair(QueuePairInitAttributes.builder().type(measurement.transport())
                    .sendCompletionQueue(sent).receiveCompletionQueue(received)
                    .maxSendRequests(measurement.depth()).maxReceiveRequests(receives).build()));
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    private <T extends NativeObject> T own(T resource) {
        resources.push(resource);
        return resource;
    }

    private CompletionQueue queue(VerbsContext context, int capacity) throws RdmaException {
        if (!measurement.polling().usesEvents()) {
            return own(context.createCompletionQueue(capacity));
        }
        CompletionChannel channel = own(context.createCompletionChannel());
        return own(context.createCompletionQueue(capacity, channel));
    }

    /** {@return the address of this end, for the peer} */
    PeerAddress address() {
        return new PeerAddress(queuePair.number(), port.attributes().lid(), port.gid().gid(),
                region.remoteAddress() + half, region.remoteKey());
    }

    /**
     * Connects this end: afterwards it can receive and send.
     *
     * @param peer the address of the other end
     */
    void connect(PeerAddress peer) throws RdmaException {
        boolean datagrams = measurement.transport() == QueuePairType.UD;
        if (measurement.polling() == Polling.EVENTS) {
            sent.requestNotification(false);
            received.requestNotification(false);
        }
        queuePair.modify(datagrams ? QueuePairTransitions.Ud.resetToInit(port.number(), 0, QUEUE_KEY)
                : QueuePairTransitions.Rc.resetToInit(port.number(), 0, AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
        if (measurement.operation() == Operation.SEND) {
            receive.data(region, half, measurement.size() + (datagrams ? ROUTE_HEADER : 0));
            for (int i = 0; i < receives; i++) {
                queuePair.postReceive(receive);
            }
        }
        queuePair.modify(datagrams ? QueuePairTransitions.Ud.initToRtr()
                : QueuePairTransitions.Rc.initToRtr(port.route(peer), port.attributes().activeMtu(),
                        peer.queuePair(), 0, port.reads(), MIN_RNR_TIMER));
        queuePair.modify(datagrams ? QueuePairTransitions.Ud.rtrToRts(0)
                : QueuePairTransitions.Rc.rtrToRts(0, TIMEOUT, RETRIES, RETRIES, port.reads()));
        prepare(peer, datagrams);
    }

    private void prepare(PeerAddress peer, boolean datagrams) throws RdmaException {
        switch (measurement.operation()) {
            case SEND -> request.send();
            case WRITE -> request.rdmaWrite(peer.memory(), peer.key());
            case READ -> request.rdmaRead(peer.memory(), peer.key());
            case ATOMIC -> request.fetchAndAdd(peer.memory(), peer.key(), 1);
        }
        if (datagrams) {
            AddressHandle handle = own(domain.createAddressHandle(port.route(peer)));
            request.datagram(handle, peer.queuePair(), QUEUE_KEY);
        }
        request.data(region, 0, measurement.size());
    }

    Measurement measurement() {
        return measurement;
    }

    /** {@return how many receives are posted initially} */
    int receives() {
        return receives;
    }

    CompletionQueue sent() {
        return sent;
    }

    CompletionQueue received() {
        return received;
    }

    /** Posts the operation. */
    void post() throws RdmaException {
        queuePair.postSend(request);
    }

    /** Posts a receive. */
    void postReceive() throws RdmaException {
        queuePair.postReceive(receive);
    }

    /** {@return the region with both halves} */
    MemoryRegion region() {
        return region;
    }

    /** {@return the offset of the half that the peer writes to} */
    int half() {
        return half;
    }

    @Override
    public void close() throws RdmaException {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }
}
