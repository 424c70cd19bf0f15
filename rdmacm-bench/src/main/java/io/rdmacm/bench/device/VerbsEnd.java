// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.Serializable;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One end of a queue pair, with the same queues and attributes as perftest. Its region has two halves: the source of
 * its operations, and the target of the peer's writes and of its own receives.
 */
abstract class VerbsEnd extends End {
    // the values of perftest
    private static final RnrTimer MIN_RNR_TIMER = RnrTimer.ofCode(12);
    private static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    private static final int RETRIES = 7;
    private static final int ALIGNMENT = 4096;

    /** The offset of the half that the peer writes to. */
    final int half;
    /** How many receives are posted initially. */
    final int receives;
    final MemoryRegion region;
    final QueuePair queuePair;
    final CompletionQueue sent;
    final CompletionQueue received;
    final SendRequest request = SendRequests.allocate(1, 1).get(0);
    final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);
    final Measurement measurement;
    private final Port port;

    /**
     * The address of an end.
     *
     * @param queuePair the number of the queue pair
     * @param lid the local identifier of the port; 0 on Ethernet
     * @param gid the global identifier of the port
     * @param memory the address that the peer may read and write
     * @param key the remote key of the region
     */
    private record Address(int queuePair, int lid, byte[] gid, long memory, int key) implements Serializable {
    }

    /** Creates an end that is not connected yet. */
    VerbsEnd(Measurement measurement, Load load, boolean client) throws Exception {
        super(load, client);
        this.measurement = measurement;
        this.port = Port.find();
        this.receives = measurement.receives(load.total());
        this.half = (load.size() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        VerbsContext context = own(port.device().open());
        ProtectionDomain domain = own(context.allocateProtectionDomain());
        sent = queue(context, measurement.depth());
        received = queue(context, receives);
        region = own(domain.allocate(2L * half, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
        queuePair = own(domain.createQueuePair(QueuePairInitAttributes.builder()
                .sendCompletionQueue(sent).receiveCompletionQueue(received)
                .maxSendRequests(measurement.depth()).maxReceiveRequests(receives).build()));
    }

    private CompletionQueue queue(VerbsContext context, int capacity) throws RdmaException {
        return own(measurement.polling().usesEvents()
                ? context.createCompletionQueue(capacity, own(context.createCompletionChannel()))
                : context.createCompletionQueue(capacity));
    }

    @Override
    public Serializable address() {
        return new Address(queuePair.number(), port.attributes().lid(), port.gid().gid().toBytes(),
                region.remoteAddress() + half, region.remoteKey());
    }

    /** Connects this end: afterwards it can receive and send. */
    @Override
    public void connect(Serializable other) throws RdmaException {
        Address peer = (Address) other;
        if (measurement.polling() == Polling.EVENTS) {
            sent.requestNotification(false);
            received.requestNotification(false);
        }
        queuePair.modify(QueuePairTransitions.Rc.resetToInit(port.number(), 0, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
        if (measurement.operation() == Measurement.Operation.SEND) {
            receive.data(region, half, load.size());
            for (int i = 0; i < receives; i++) {
                queuePair.postReceive(receive);
            }
        }
        queuePair.modify(QueuePairTransitions.Rc.initToRtr(port.route(peer.lid, Gid.of(peer.gid)),
                port.attributes().activeMtu(), peer.queuePair, 0, port.reads(), MIN_RNR_TIMER));
        queuePair.modify(QueuePairTransitions.Rc.rtrToRts(0, TIMEOUT, RETRIES, RETRIES, port.reads()));
        switch (measurement.operation()) {
            case SEND -> request.send();
            case WRITE -> request.rdmaWrite(peer.memory, peer.key);
            case READ -> request.rdmaRead(peer.memory, peer.key);
            case ATOMIC -> request.fetchAndAdd(peer.memory, peer.key, 1);
        }
        request.data(region, 0, load.size());
    }
}
