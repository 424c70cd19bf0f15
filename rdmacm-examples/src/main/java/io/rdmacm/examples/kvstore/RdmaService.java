// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The store over RDMA: registers the table so that clients can read it, tells each client where it is, and handles
 * puts in a loop. Gets are RDMA reads and do not come here at all.
 */
final class RdmaService implements AutoCloseable {
    private static final int BACKLOG = 64;

    private final KvRequests requests;
    private final int tcpPort;
    private final Console console;
    private final ConnectionManager manager;
    private final Listener listener;
    private final Set<Connection> clients = ConcurrentHashMap.newKeySet();
    // the registrations of the table, one for each device that clients are connected through
    private final Map<ProtectionDomain, MemoryRegion> regions = new HashMap<>();

    /** Accepts clients until it is closed. */
    RdmaService(InetSocketAddress address, KvRequests requests, int tcpPort, Console console) throws RdmaException {
        this.requests = requests;
        this.tcpPort = tcpPort;
        this.console = console;
        this.manager = ConnectionManager.open();
        boolean listening = false;
        try {
            this.listener = manager.listen(address, BACKLOG, ConnectionSettings.builder()
                    .messageSize(requests.messageBytes()).handler(new Answers())
                    .loops(manager.startLoops(LoopSettings.defaults())).build());
            listener.acceptAll();
            listening = true;
        } finally {
            if (!listening) {
                manager.close();
            }
        }
    }

    InetSocketAddress address() {
        return listener.address();
    }

    /** Disconnects all clients. Nobody reads the table's memory after that. */
    @Override
    public void close() throws RdmaException {
        listener.close();
        for (Connection client : List.copyOf(clients)) {
            client.close();
        }
        for (MemoryRegion region : regions.values()) {
            region.close();
        }
        manager.close();
    }

    /** Answers requests, one after the other: each device has a loop. */
    private final class Answers implements ConnectionHandler {
        private final ByteBuffer answer = ByteBuffer.allocateDirect(requests.messageBytes());
        private final KvSlot copy = new KvSlot(requests.table().layout());

        @Override
        public void onConnect(Connection connection) {
            clients.add(connection);
        }

        @Override
        public synchronized void onMessage(Connection connection, Message message) throws RdmaException {
            try {
                ByteBuffer request = message.memory().asByteBuffer();
                KvMessage.Request kind = KvMessage.request(request);
                answer.clear();
                if (kind == KvMessage.Request.HELLO) {
                    hello(connection, answer);
                } else {
                    requests.answer(kind, request, answer, copy);
                }
            } catch (IOException e) {
                console.report("kv_server: " + connection.peerAddress() + ": " + Console.describe(e));
                connection.close();
                return;
            }
            send(connection, message);
        }

        /** A client that does not receive its answers occupies its own buffers, and holds up nobody else. */
        private void send(Connection connection, Message request) throws RdmaException {
            MemorySegment bytes = MemorySegment.ofBuffer(answer.flip());
            if (!connection.queue().send(bytes)) {
                Message kept = request.retain();
                connection.async().send(bytes).whenComplete((sent, failure) -> release(kept));
            }
        }

        private void release(Message kept) {
            try {
                kept.close();
            } catch (RdmaException e) {
                console.report("kv_server: " + Console.describe(e));
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
            clients.remove(connection);
            connection.close();
            if (reason instanceof DisconnectedException) {
                console.debug("%s has left", connection.peerAddress());
            } else if (!(reason instanceof RdmaClosedException)) {
                console.report("kv_server: " + connection.peerAddress() + ": " + Console.describe(reason));
            }
        }
    }

    /** Answers HELLO: the address of the table, its remote key, the TCP port and the layout. */
    private void hello(Connection connection, ByteBuffer answer) throws RdmaException {
        MemoryRegion region = region(connection.protectionDomain());
        KvMessage.begin(answer, KvMessage.Answer.OK);
        answer.putLong(region.remoteAddress()).putInt(region.remoteKey()).putInt(tcpPort);
        requests.table().layout().write(answer);
    }

    private MemoryRegion region(ProtectionDomain domain) throws RdmaException {
        MemoryRegion region = regions.get(domain);
        if (region == null) {
            // registers the table's own memory: nothing is copied
            region = domain.register(requests.table().memory(), AccessFlag.REMOTE_READ);
            regions.put(domain, region);
        }
        return region;
    }
}
