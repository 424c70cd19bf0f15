// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * The client over RDMA. A put is a message and an answer. A get is an RDMA read of the key's slot in the server's
 * memory, which the server does not notice; if the read overlapped a write, it is repeated.
 */
final class RdmaClient implements KvClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Set<SendFlag> SIGNALED = EnumSet.of(SendFlag.SIGNALED);
    private static final int MAX_TRIES = 1_000_000;

    private final Resources resources = new Resources();
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private final Endpoint endpoint;
    private final long tableAddress;
    private final int tableKey;
    private final int tcpPort;
    private final KvLayout layout;
    private final MemoryRegion request;
    private final MemoryRegion answer;
    // the target of reads, and a copy of it on the heap
    private final MemoryRegion slot;
    private final KvSlot copy;
    private volatile long tornReads;

    /** Connects, and asks the server where the table is. */
    RdmaClient(InetSocketAddress server) throws IOException, InterruptedException {
        boolean connected = false;
        try {
            endpoint = resources.add(Endpoint.createActive(server, PortSpace.TCP, EndpointAttributes.defaults(),
                    TIMEOUT));
            endpoint.connect(ConnectionParameters.defaults(), TIMEOUT);
            ByteBuffer hello;
            try (MemoryRegion message = allocate(KvMessage.OVERHEAD)) {
                ByteBuffer question = message.memory().asByteBuffer();
                KvMessage.begin(question, KvMessage.Request.HELLO);
                hello = ByteBuffer.wrap(exchange(message, question.position(), message));
            }
            KvMessage.found(hello);
            tableAddress = hello.getLong();
            tableKey = hello.getInt();
            tcpPort = hello.getInt();
            layout = KvLayout.read(hello);
            request = resources.add(allocate(messageBytes()));
            answer = resources.add(allocate(messageBytes()));
            slot = resources.add(allocate(layout.slotBytes()));
            copy = new KvSlot(layout);
            connected = true;
        } finally {
            if (!connected) {
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
        return endpoint.context().deviceName();
    }

    @Override
    public void put(byte[] key, byte[] value) throws IOException, InterruptedException {
        ByteBuffer message = request.memory().asByteBuffer();
        KvMessage.put(message, key, value);
        KvMessage.found(ByteBuffer.wrap(exchange(request, message.position(), answer)));
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
        ByteBuffer count = ByteBuffer.wrap(exchange(request, message.position(), answer));
        KvMessage.found(count);
        return count.getLong();
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
            endpoint.postRead(0, slot, 0, layout.slotBytes(), SIGNALED, tableAddress + offset, tableKey);
            endpoint.getSendCompletions(completions, TIMEOUT);
            check();
            MemorySegment.copy(slot.memory(), ValueLayout.JAVA_BYTE, 0, copy.bytes(), 0, copy.bytes().length);
            KvSlot.Content content = copy.check(key);
            if (content != KvSlot.Content.TORN) {
                return content;
            }
            tornReads++;
        }
        throw new IOException("a slot was being written during each of " + MAX_TRIES + " reads");
    }

    /** Sends a message, waits for its answer, and returns a copy of the answer. */
    private byte[] exchange(MemoryRegion message, int length, MemoryRegion in)
            throws IOException, InterruptedException {
        // The receive is posted first: the server may be fast.
        endpoint.postReceive(0, in, 0, (int) in.length());
        endpoint.postSend(0, message, 0, length, SIGNALED);
        endpoint.getSendCompletions(completions, TIMEOUT);
        check();
        endpoint.getReceiveCompletions(completions, TIMEOUT);
        check();
        return in.memory().asSlice(0, completions.byteLength()).toArray(ValueLayout.JAVA_BYTE);
    }

    private void check() throws IOException {
        completions.next();
        if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the server has ended the connection");
        }
        completions.check();
    }

    private MemoryRegion allocate(int bytes) throws IOException {
        return endpoint.protectionDomain().allocate(bytes, AccessFlag.LOCAL_WRITE);
    }
}
