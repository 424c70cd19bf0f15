// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/**
 * The store over RDMA: registers the table so that clients can read it, tells each client in the private data of the
 * accept where it is, and puts what clients send. Gets are RDMA reads and do not come here at all.
 */
final class KvService implements ConnectionHandler, AutoCloseable {
    private static final int BACKLOG = 64;

    private final KvTable table;
    private final Consumer<String> log;
    private final Resources resources = new Resources();
    private final Listener listener;

    /** The answer to a put: one byte. */
    enum Answer { OK, FULL, WRONG }

    /** Accepts clients until it is closed. Reports each put: gets are not noticed. */
    KvService(InetSocketAddress address, KvTable table, Consumer<String> log) throws IOException {
        this.table = table;
        this.log = log;
        ConnectionManager manager = ConnectionManager.open();
        resources.onClose(manager::close);
        boolean listening = false;
        try {
            // the table's own memory: nothing is copied
            MemoryRegion region = resources.add(manager.protectionDomain(address.getAddress())
                    .register(table.memory(), AccessFlag.REMOTE_READ));
            ByteBuffer place = ByteBuffer.allocate(RemoteMemory.BYTES + KvLayout.BYTES);
            region.remoteMemory().encode(place);
            table.layout().write(place);
            listener = manager.serve(address, BACKLOG, ConnectionSettings.builder().privateData(place.array())
                    .messageSize(table.layout().messageBytes()).handler(this)
                    .loops(manager.startLoops(LoopSettings.defaults())).build());
            resources.onClose(() -> {
                listener.close();
                // Nobody reads the table after that.
                for (Connection client : manager.connections()) {
                    client.close();
                }
            });
            listening = true;
        } finally {
            if (!listening) {
                resources.close();
            }
        }
    }

    InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }

    @Override
    public void onMessage(Connection connection, Message message) throws RdmaException {
        Answer answer = put(message.memory().asByteBuffer());
        MemorySegment bytes = MemorySegment.ofArray(new byte[] {(byte) answer.ordinal()});
        if (!connection.queue().send(bytes)) {
            // It waits until the client has taken more of its answers, and holds up nobody else.
            connection.async().send(bytes);
        }
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
        connection.close();
        if (!(reason instanceof DisconnectedException) && !(reason instanceof RdmaClosedException)) {
            log.accept(connection.peerAddress() + ": " + ExampleProgram.describe(reason));
        }
    }

    private Answer put(ByteBuffer request) {
        byte[] key = new byte[request.hasRemaining() ? Short.toUnsignedInt(request.getShort()) : 0];
        if (key.length > request.remaining()
                || !table.layout().fits(key.length, request.remaining() - key.length)) {
            return Answer.WRONG;
        }
        request.get(key);
        byte[] value = new byte[request.remaining()];
        request.get(value);
        log.accept("put " + new String(key, StandardCharsets.UTF_8) + ", " + value.length + " bytes");
        return table.put(key, value) == KvTable.FULL ? Answer.FULL : Answer.OK;
    }
}
