// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.EventThread;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Receives the messages of all connections from one shared receive queue. Two threads: one takes the events of
 * connections, and makes their queue pairs; the other, which is the program's own, takes completions. Which connection
 * a message came over is what its completion tells.
 */
final class SrqServer {
    /** Bytes of a message. */
    static final int MESSAGE = 64;

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final int RECEIVES = 64;
    // A sender that finds the queue empty tries again after this time.
    private static final Duration RNR_TIMER = Duration.ofNanos(640_000);

    private final InetSocketAddress where;
    private final int connections;
    private final int count;
    private final Console console;
    // By the number of the queue pair.
    private final Map<Integer, SrqPeer> peers = new ConcurrentHashMap<>();
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    SrqServer(InetSocketAddress where, int connections, int count, Console console) {
        this.where = where;
        this.connections = connections;
        this.count = count;
        this.console = console;
    }

    /** Returns when all connections have come, said what they have to say, and ended. */
    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(where);
            listener.listen(connections);
            console.print("listening on port " + listener.localPort());
            VerbsContext device = listener.context();
            try (ProtectionDomain domain = device.allocateProtectionDomain();
                    CompletionChannel events = device.createCompletionChannel();
                    CompletionQueue queue = device.createCompletionQueue(RECEIVES + 2 * connections, events);
                    MemoryRegion inbox = domain.allocate((long) RECEIVES * MESSAGE, AccessFlag.LOCAL_WRITE);
                    MemoryRegion outbox = domain.allocate((long) connections * Integer.BYTES);
                    SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                            SharedReceiveQueueInitAttributes.builder().maxRequests(RECEIVES).build())) {
                for (int slot = 0; slot < RECEIVES; slot++) {
                    postReceive(shared, inbox, slot);
                }
                QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                        .sharedReceiveQueue(shared).maxSendRequests(2).build();
                try {
                    serve(channel, domain, attributes, inbox, outbox);
                } finally {
                    for (SrqPeer peer : peers.values()) {
                        peer.close();
                    }
                }
            }
        }
    }

    private void serve(EventChannel channel, ProtectionDomain domain, QueuePairInitAttributes attributes,
            MemoryRegion inbox, MemoryRegion outbox) throws IOException, InterruptedException {
        EventThread events = EventThread.startInterrupting(channel, event -> handle(event, domain, attributes));
        try (events) {
            takeCompletions(attributes.receiveQueue(), attributes.sharedReceiveQueue().orElseThrow(), inbox, outbox);
        } catch (InterruptedException e) {
            events.check();
            throw e;
        }
    }

    /** By the thread of the events. */
    private void handle(CmEvent event, ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                // A request whose id nobody asks for is rejected when the event is closed.
                if (peers.size() < connections) {
                    accept(event.id(), domain, attributes);
                }
            }
            case ESTABLISHED -> peerOf(event).pair().modify(QueuePairAttributes.builder().minRnrTimer(RNR_TIMER)
                    .build());
            case DISCONNECTED, REJECTED, UNREACHABLE, CONNECT_ERROR -> peerOf(event).end();
            default -> {
                // Nothing that a connection has to do with any more.
            }
        }
    }

    private void accept(CmId id, ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException {
        SrqPeer peer = SrqPeer.create(id, domain, attributes, peers.size());
        peers.put(peer.pair().number(), peer);
        id.accept(ConnectionParameters.defaults());
    }

    private SrqPeer peerOf(CmEvent event) {
        return peers.get(event.id().queuePair().orElseThrow().number());
    }

    private void takeCompletions(CompletionQueue queue, SharedReceiveQueue shared, MemoryRegion inbox,
            MemoryRegion outbox) throws IOException, InterruptedException {
        WorkCompletions completions = WorkCompletions.allocate(16);
        int ended = 0;
        while (ended < connections) {
            queue.await(completions, FOR_EVER);
            while (completions.next()) {
                SrqPeer peer = peers.get(completions.queuePairNumber());
                if (completions.workRequestId() == SrqPeer.END) {
                    requireComplete(peer);
                    ended++;
                } else {
                    completions.check();
                    take(peer, (int) completions.workRequestId(), completions.byteLength(), inbox);
                    postReceive(shared, inbox, (int) completions.workRequestId());
                    if (peer.received() == count) {
                        answer(peer, outbox);
                    }
                }
            }
        }
        console.print(connections + " connections sent " + count + " messages each, received from one queue");
    }

    /** On each connection the messages come in order, though the places in the queue are taken as they come. */
    private static void take(SrqPeer peer, int slot, int length, MemoryRegion inbox) throws IOException {
        int number = Datagram.check(inbox.memory().asSlice((long) slot * MESSAGE, length));
        int expected = peer.countReceived();
        if (number != expected) {
            throw new IOException("connection " + peer.index() + " sent message " + number + " in place of "
                    + expected);
        }
    }

    private void answer(SrqPeer peer, MemoryRegion outbox) throws RdmaException {
        long offset = (long) peer.index() * Integer.BYTES;
        outbox.memory().set(ValueLayout.JAVA_INT, offset, Integer.reverseBytes(peer.received()));
        peer.pair().postSend(peer.message().signaled(false).data(outbox, offset, Integer.BYTES));
        console.print("connection " + peer.index() + ": " + peer.received() + " messages");
    }

    private void requireComplete(SrqPeer peer) throws IOException {
        if (peer.received() < count) {
            throw new IOException("connection " + peer.index() + " ended after " + peer.received() + " of " + count
                    + " messages");
        }
    }

    private void postReceive(SharedReceiveQueue shared, MemoryRegion inbox, int slot) throws RdmaException {
        shared.postReceive(receive.id(slot).data(inbox, (long) slot * MESSAGE, MESSAGE));
    }
}
