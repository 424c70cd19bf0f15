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

/**
 * The client over RDMA. A put is a message and an answer. A get is an RDMA read of the key's slot in the server's
 * memory, which the server does not notice; if the read overlapped a write, it is repeated.
 */
final class RdmaClient implements KvClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MAX_TRIES = 1_000_000;
    // No answer is longer: values are not among them.
    private static final ConnectionSettings SETTINGS = ConnectionSettings.builder().messageSize(KvMessage.OVERHEAD)
            .receiveBuffers(1).sendBuffers(1).operations(1).build();

    private final Resources resources = new Resources();
    private final Connection connection;
    private final long tableAddress;
    private final int tableKey;
    private final int tcpPort;
    private final KvLayout layout;
    private final MemoryRegion request;
    // the target of reads, and a copy of it on the heap
    private final MemoryRegion slot;
    private final KvSlot copy;
    private volatile long tornReads;

    /** Connects, and asks the server where the table is. */
    RdmaClient(ConnectionManager manager, InetSocketAddress server) throws IOException, InterruptedException {
        connection = manager.connect(server, SETTINGS, TIMEOUT);
        boolean made = false;
        try {
            ByteBuffer question = ByteBuffer.allocate(KvMessage.OVERHEAD);
            KvMessage.begin(question, KvMessage.Request.HELLO);
            connection.send(question.flip(), TIMEOUT);
            ByteBuffer hello = answer();
            tableAddress = hello.getLong();
            tableKey = hello.getInt();
            tcpPort = hello.getInt();
            layout = KvLayout.read(hello);
            request = resources.add(connection.protectionDomain().allocate(messageBytes()));
            slot = resources.add(connection.protectionDomain().allocate(layout.slotBytes(), AccessFlag.LOCAL_WRITE));
            copy = new KvSlot(layout);
            made = true;
        } finally {
            // Before the memory is freed: afterwards no read writes to it.
            resources.onClose(connection::close);
            if (!made) {
                resources.close();
            }
        }
    }

    /** Returns the maximum length of a message in bytes, over RDMA and TCP. */
    int messageBytes() {
        return layout.keyBytes() + layout.valueBytes() + KvMessage.OVERHEAD;
    }

    KvLayout layout() {
        return layout;
    }

    /** Returns the TCP port of the same store. */
    int tcpPort() {
        return tcpPort;
    }

    /** Returns the name of the device through which the server is reached. */
    String deviceName() {
        return connection.protectionDomain().context().deviceName();
    }

    @Override
    public void put(byte[] key, byte[] value) throws IOException, InterruptedException {
        ByteBuffer message = request.memory().asByteBuffer();
        KvMessage.put(message, key, value);
        connection.send(request, 0, message.position(), TIMEOUT);
        answer();
    }

    @Override
    public byte[] get(byte[] key) throws IOException, InterruptedException {
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

    @Override
    public long handled() throws IOException, InterruptedException {
        ByteBuffer message = request.memory().asByteBuffer();
        KvMessage.begin(message, KvMessage.Request.COUNT);
        connection.send(request, 0, message.position(), TIMEOUT);
        return answer().getLong();
    }

    @Override
    public long tornReads() {
        return tornReads;
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }

    /** Reads a slot from the server's memory, again and again until no write overlapped. */
    private KvSlot.Content read(long offset, byte[] key) throws IOException, InterruptedException {
        for (int i = 0; i < MAX_TRIES; i++) {
            connection.read(slot, 0, layout.slotBytes(), tableAddress + offset, tableKey, TIMEOUT);
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
            KvMessage.found(bytes);
            return bytes;
        }
    }
}
