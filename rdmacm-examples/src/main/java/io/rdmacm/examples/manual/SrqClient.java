// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
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
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.work.AccessFlag;

/** Opens the connections, sends messages on all of them in turn, and waits for an answer on each. */
final class SrqClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);
    // the ids of requests: sends, and from ANSWER on the receive of each connection
    private static final int SEND = 0;
    private static final int ANSWER = 1;

    private final InetSocketAddress server;
    private final int connections;
    private final int count;
    private final Console console;
    private final List<SrqPeer> peers = new ArrayList<>();
    private final WorkCompletions completions = WorkCompletions.allocate(16);
    private int sent;
    private int answered;

    SrqClient(InetSocketAddress server, int connections, int count, Console console) {
        this.server = server;
        this.connections = connections;
        this.count = count;
        this.console = console;
    }

    /** Runs the client, and returns when all answers have arrived. */
    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(); CmId first = resolve(channel)) {
            VerbsContext device = first.context();
            try (ProtectionDomain domain = device.allocateProtectionDomain();
                    CompletionChannel events = device.createCompletionChannel();
                    CompletionQueue queue = device.createCompletionQueue(4 * connections, events);
                    MemoryRegion outbox = domain.allocate((long) connections * SrqServer.MESSAGE);
                    MemoryRegion inbox = domain.allocate((long) connections * Integer.BYTES,
                            AccessFlag.LOCAL_WRITE)) {
                try {
                    connectAll(channel, first, domain, queue, inbox);
                    send(channel, queue, outbox, inbox);
                } finally {
                    for (SrqPeer peer : peers) {
                        peer.close();
                    }
                }
            }
        }
    }

    private CmId resolve(EventChannel channel) throws IOException, InterruptedException {
        CmId id = CmId.open(channel, PortSpace.TCP);
        boolean resolved = false;
        try {
            id.resolveAddress(server, RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, TIMEOUT).close();
            id.resolveRoute(RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ROUTE_RESOLVED, TIMEOUT).close();
            resolved = true;
            return id;
        } finally {
            if (!resolved) {
                id.close();
            }
        }
    }

    private void connectAll(EventChannel channel, CmId first, ProtectionDomain domain, CompletionQueue queue,
            MemoryRegion inbox) throws IOException, InterruptedException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(2).maxReceiveRequests(1).build();
        for (int i = 0; i < connections; i++) {
            CmId id = i == 0 ? first : resolve(channel);
            SrqPeer peer = SrqPeer.create(id, domain, attributes, i);
            peers.add(peer);
            peer.pair().postReceive(ReceiveRequests.allocate(1, 1).get(0).id(ANSWER + i)
                    .data(inbox, (long) i * Integer.BYTES, Integer.BYTES));
            id.connect(ConnectionParameters.defaults());
            channel.await(id, CmEventType.ESTABLISHED, TIMEOUT).close();
        }
        console.print(connections + " connections with " + server);
    }

    private void send(EventChannel channel, CompletionQueue queue, MemoryRegion outbox, MemoryRegion inbox)
            throws IOException, InterruptedException {
        EventThread events = EventThread.startInterrupting(channel, this::handle);
        try (events) {
            for (int number = 0; number < count; number++) {
                for (SrqPeer peer : peers) {
                    long offset = (long) peer.index() * SrqServer.MESSAGE;
                    Datagram.fill(outbox.memory().asSlice(offset, SrqServer.MESSAGE), number);
                    peer.pair().postSend(peer.message().id(SEND).data(outbox, offset, SrqServer.MESSAGE));
                }
                while (sent < connections * (number + 1)) {
                    takeCompletions(queue, inbox);
                }
            }
            while (answered < connections) {
                takeCompletions(queue, inbox);
            }
        } catch (InterruptedException e) {
            events.check();
            throw e;
        }
        console.print("the server received " + count + " messages on each");
        for (SrqPeer peer : peers) {
            peer.id().disconnect();
        }
    }

    /** Handles the end of a connection that this side did not ask for. Called by the event thread. */
    private void handle(CmEvent event) throws IOException {
        for (SrqPeer peer : peers) {
            if (event.type() == CmEventType.DISCONNECTED && peer.id() == event.id()) {
                peer.end();
            }
        }
    }

    private void takeCompletions(CompletionQueue queue, MemoryRegion inbox) throws IOException, InterruptedException {
        queue.await(completions, TIMEOUT);
        while (completions.next()) {
            if (!completions.succeeded() && completions.workRequestId() != SEND) {
                throw new IOException("the server ended a connection before it answered");
            }
            completions.check();
            if (completions.workRequestId() == SEND) {
                sent++;
            } else {
                long offset = (completions.workRequestId() - ANSWER) * Integer.BYTES;
                int received = Integer.reverseBytes(inbox.memory().get(ValueLayout.JAVA_INT, offset));
                if (received != count) {
                    throw new IOException("the server received " + received + " messages of " + count);
                }
                answered++;
            }
        }
    }
}
