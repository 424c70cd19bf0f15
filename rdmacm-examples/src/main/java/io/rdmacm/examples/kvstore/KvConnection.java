// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
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
    private static final int MAX_TRIES = 1_000_000;
    // No answer is longer: values are not among them.
    private static final ConnectionSettings SETTINGS = ConnectionSettings.builder().messageSize(KvMessage.OVERHEAD)
            .receiveBuffers(1).sendBuffers(1).operations(1).build();

    private final Resources resources = new Resources();
    private final Connection connection;
    private final RemoteMemory table;
    private final KvLayout layout;
    private final MemoryRegion request;
    // the target of reads, and a copy of it on the heap
    private final MemoryRegion slot;
    private final KvSlot copy;
    private volatile long tornReads;

    /** Connects, and asks the server where the table is. */
    KvConnection(ConnectionManager manager, InetSocketAddress server) throws IOException, InterruptedException {
        connection = manager.connect(server, SETTINGS, TIMEOUT);
        boolean complete = false;
        try {
            connection.send(KvMessage.begin(ByteBuffer.allocate(1), KvMessage.Request.HELLO).flip(), TIMEOUT);
            ByteBuffer hello = answer();
            table = RemoteMemory.decode(hello);
            layout = KvLayout.read(hello);
            request = resources.add(connection.protectionDomain().allocate(layout.messageBytes()));
            slot = resources.add(connection.protectionDomain().allocate(layout.slotBytes(), AccessFlag.LOCAL_WRITE));
            copy = new KvSlot(layout);
            complete = true;
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
        ByteBuffer message = KvMessage.begin(request.memory().asByteBuffer(), KvMessage.Request.PUT);
        KvMessage.writeBytes(message, key);
        KvMessage.writeBytes(message, value);
        connection.send(request, 0, message.position(), TIMEOUT);
        answer();
    }

    /** Returns the value of a key, or null if there is none. */
    byte[] get(byte[] key) throws IOException, InterruptedException {
        for (int probe = 0; probe < KvLayout.PROBES; probe++) {
            switch (read(layout.offset(key, probe), key)) {
                case FOUND -> {
                    return copy.value();
                }
                case EMPTY -> {
                    return null;
                }
                default -> {
                    // Another key is in this slot: this key may be in the next one.
                }
            }
        }
        return null;
    }

    /** Returns how often a read of this client overlapped a write and was repeated. */
    long tornReads() {
        return tornReads;
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }

    /** Reads a slot from the server's memory, again and again until no write overlapped. */
    private KvSlot.Content read(long offset, byte[] key) throws IOException, InterruptedException {
        for (int i = 0; i < MAX_TRIES; i++) {
            connection.read(slot, 0, layout.slotBytes(), table.slice(offset), TIMEOUT);
            MemorySegment.copy(slot.memory(), ValueLayout.JAVA_BYTE, 0, copy.bytes(), 0, copy.bytes().length);
            KvSlot.Content content = copy.check(key);
            if (content != KvSlot.Content.TORN) {
                return content;
            }
            tornReads++;
        }
        throw new IOException("a slot was being written during each of " + MAX_TRIES + " reads");
    }

    /** Waits for the answer to a request, and returns what follows its status. */
    private ByteBuffer answer() throws IOException, InterruptedException {
        try (Message answer = connection.receive(TIMEOUT)) {
            ByteBuffer bytes = ByteBuffer.wrap(answer.toArray());
            KvMessage.requireOk(bytes);
            return bytes;
        }
    }
}
