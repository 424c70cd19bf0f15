// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The store over RDMA: registers the table so that clients can read it, tells each client where it is, and handles
 * puts in a loop. Gets are RDMA reads and do not come here at all.
 */
final class KvService implements AutoCloseable {
    private static final int BACKLOG = 64;

    private final KvTable table;
    private final Consumer<String> log;
    private final ConnectionManager manager;
    private final Listener listener;
    private final Set<Connection> clients = ConcurrentHashMap.newKeySet();
    // the registrations of the table, one for each device that clients are connected through
    private final Map<ProtectionDomain, MemoryRegion> regions = new HashMap<>();

    /** Accepts clients until it is closed. Reports each put: gets are not noticed. */
    KvService(InetSocketAddress address, KvTable table, Consumer<String> log) throws RdmaException {
        this.table = table;
        this.log = log;
        this.manager = ConnectionManager.open();
        boolean listening = false;
        try {
            this.listener = manager.listen(address, BACKLOG, ConnectionSettings.builder()
                    .messageSize(table.layout().messageBytes()).handler(new Answers())
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
        private final ByteBuffer answer = ByteBuffer.allocateDirect(KvMessage.OVERHEAD);

        @Override
        public void onConnect(Connection connection) {
            clients.add(connection);
        }

        @Override
        public synchronized void onMessage(Connection connection, Message message) throws RdmaException {
            answer(connection, message.memory().asByteBuffer(), answer.clear());
            MemorySegment bytes = MemorySegment.ofBuffer(answer.flip());
            // A client that does not receive its answers occupies its own buffers, and holds up nobody else.
            if (!connection.queue().send(bytes)) {
                Message kept = message.retain();
                connection.async().send(bytes).whenComplete((sent, failure) -> release(kept));
            }
        }

        private void release(Message kept) {
            try {
                kept.close();
            } catch (RdmaException e) {
                log.accept(ExampleProgram.describe(e));
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
            clients.remove(connection);
            connection.close();
            if (!(reason instanceof DisconnectedException) && !(reason instanceof RdmaClosedException)) {
                log.accept(connection.peerAddress() + ": " + ExampleProgram.describe(reason));
            }
        }
    }

    private void answer(Connection connection, ByteBuffer request, ByteBuffer answer) throws RdmaException {
        int kind = request.hasRemaining() ? request.get() : -1;
        if (kind == KvMessage.Request.HELLO.ordinal()) {
            MemoryRegion region = region(connection.protectionDomain());
            KvMessage.begin(answer, KvMessage.Answer.OK).putLong(region.remoteAddress()).putInt(region.remoteKey());
            table.layout().write(answer);
        } else if (kind == KvMessage.Request.PUT.ordinal()) {
            KvMessage.begin(answer, put(KvMessage.readBytes(request), KvMessage.readBytes(request)));
        } else {
            KvMessage.begin(answer, KvMessage.Answer.WRONG);
        }
    }

    private KvMessage.Answer put(byte[] key, byte[] value) {
        if (key == null || value == null || !table.layout().fits(key.length, value.length)) {
            return KvMessage.Answer.WRONG;
        }
        log.accept("put " + new String(key, StandardCharsets.UTF_8) + ", " + value.length + " bytes");
        return table.put(key, value) == KvTable.FULL ? KvMessage.Answer.FULL : KvMessage.Answer.OK;
    }

    private MemoryRegion region(ProtectionDomain domain) throws RdmaException {
        MemoryRegion region = regions.get(domain);
        if (region == null) {
            // registers the table's own memory: nothing is copied
            region = domain.register(table.memory(), AccessFlag.REMOTE_READ);
            regions.put(domain, region);
        }
        return region;
    }
}
