// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/**
 * A client's connection to the store, for one thread. A put is a message and an answer. A get is an RDMA read of the
 * key's slot in the server's memory, which the server does not notice; if the read overlapped a write, it is repeated.
 */
final class KvConnection implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    // for the answers: values are not among them
    private static final ConnectionSettings SETTINGS = ConnectionSettings.builder().messageSize(1).receiveBuffers(1)
            .sendBuffers(1).operations(1).build();

    private final Resources resources = new Resources();
    private final Connection connection;
    private final RemoteMemory table;
    private final KvLayout layout;
    private final MemoryRegion request;
    // the target of reads, and a copy of it on the heap
    private final MemoryRegion slot;
    private final KvSlot copy;
    private volatile long reads;

    /** Connects, and learns where the table is. */
    KvConnection(ConnectionManager manager, InetSocketAddress server) throws IOException, InterruptedException {
        connection = manager.connect(server, SETTINGS, TIMEOUT);
        boolean complete = false;
        try {
            ByteBuffer place = ByteBuffer.wrap(connection.privateData());
            table = RemoteMemory.decode(place);
            layout = KvLayout.read(place);
            request = resources.add(connection.protectionDomain().allocate(layout.messageBytes()));
            slot = resources.add(connection.protectionDomain().allocate(layout.slotBytes(), AccessFlag.LOCAL_WRITE));
            copy = new KvSlot(layout);
            complete = true;
        } catch (IllegalArgumentException | BufferUnderflowException e) {
            throw new IOException("the peer is not a kv_server", e);
        } finally {
            // Before the memory is freed: afterwards no read writes to it.
            resources.onClose(connection::close);
            if (!complete) {
                resources.close();
            }
        }
    }

    /** Puts a value; once this returns, every client gets this value. */
    void put(byte[] key, byte[] value) throws IOException, InterruptedException {
        if (!layout.fits(key.length, value.length)) {
            throw new IOException("the server's keys have 1 to " + layout.keyBytes() + " bytes and its values at most "
                    + layout.valueBytes() + ", not " + key.length + " and " + value.length);
        }
        ByteBuffer message = request.memory().asByteBuffer().putShort((short) key.length).put(key).put(value);
        connection.send(request, 0, message.position(), TIMEOUT);
        try (Message answer = connection.receive(TIMEOUT)) {
            switch (KvService.Answer.values()[answer.toArray()[0]]) {
                case OK -> { }
                case FULL -> throw new IOException(
                        "the server has no slot left for the key: start it with more --slots");
                case WRONG -> throw new IOException("the server refused the request");
            }
        }
    }

    /** Returns the value of a key, or null if there is none. */
    byte[] get(byte[] key) throws IOException, InterruptedException {
        return layout.find(key, copy, offset -> {
            connection.read(slot, 0, layout.slotBytes(), table.slice(offset), TIMEOUT);
            MemorySegment.copy(slot.memory(), ValueLayout.JAVA_BYTE, 0, copy.bytes(), 0, copy.bytes().length);
            reads++;
        });
    }

    /** Returns how often this client has read a slot: again, if the read overlapped a write. */
    long reads() {
        return reads;
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }
}
