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
 * Receives the messages of all connections from one shared receive queue. One thread handles the connection events and
 * creates the queue pairs; the main thread handles the completions. A completion names the queue pair, and thereby the
 * connection, that a message arrived on.
 */
final class SrqServer {
    /** The length of a message in bytes. */
    static final int MESSAGE = 64;

    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final int RECEIVES = 64;
    // a sender that finds the queue empty retries after this time
    private static final Duration RNR_TIMER = Duration.ofNanos(640_000);

    private final InetSocketAddress where;
    private final int connections;
    private final int count;
    private final Console console;
    // by the number of the queue pair
    private final Map<Integer, SrqPeer> peers = new ConcurrentHashMap<>();
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    SrqServer(InetSocketAddress where, int connections, int count, Console console) {
        this.where = where;
        this.connections = connections;
        this.count = count;
        this.console = console;
    }

    /** Runs the server, and returns when all connections have sent their messages and ended. */
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

    /** Handles an event. Called by the event thread. */
    private void handle(CmEvent event, ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                // A request whose id is not used is rejected when its event is closed.
                if (peers.size() < connections) {
                    accept(event.id(), domain, attributes);
                }
            }
            case ESTABLISHED -> peerOf(event).pair().modify(QueuePairAttributes.builder().minRnrTimer(RNR_TIMER)
                    .build());
            case DISCONNECTED, REJECTED, UNREACHABLE, CONNECT_ERROR -> peerOf(event).end();
            default -> {
                // does not concern an open connection
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
            queue.await(completions, FOREVER);
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

    /** Checks a message. The messages of each connection arrive in order, whatever slots of the queue they use. */
    private static void take(SrqPeer peer, int slot, int length, MemoryRegion inbox) throws IOException {
        int number = Datagram.check(inbox.memory().asSlice((long) slot * MESSAGE, length));
        int expected = peer.countReceived();
        if (number != expected) {
            throw new IOException("connection " + peer.index() + " sent message " + number + " instead of "
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
