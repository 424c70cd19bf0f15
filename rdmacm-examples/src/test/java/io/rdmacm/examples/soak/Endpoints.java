// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.random.RandomGenerator;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** Synchronous endpoints: an exchange of messages, then reads and writes of the server's memory. */
final class Endpoints implements Scenario {
    private static final int SIZE = 8192;
    // the memory to read and the memory to write
    private static final int NOTE = 2 * RemoteMemory.BYTES;
    private static final Set<SendFlag> SIGNALED = Set.of(SendFlag.SIGNALED);

    private final int max;

    /**
     * Creates the scenario.
     *
     * @param max the most messages per connection
     */
    Endpoints(int max) {
        this.max = max;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        EndpointFixture fixture = EndpointFixture.of(worker);
        long first = random.nextLong();
        int count = 1 + random.nextInt(max);
        int size = Payload.HEADER + random.nextInt(SIZE - Payload.HEADER);
        int transfers = random.nextInt(max);
        worker.runBoth(() -> {
            try (Arena arena = Arena.ofShared();
                    Endpoint server = fixture.listener().getRequest(worker.timeout())) {
                serve(worker, server, arena.allocate(SIZE), first, count);
            }
        }, () -> {
            try (Arena arena = Arena.ofShared(); Endpoint client = fixture.client(worker)) {
                MemorySegment outgoing = arena.allocate(SIZE);
                MemorySegment incoming = arena.allocate(SIZE);
                MemoryRegion outbox = client.registerMessages(outgoing);
                MemoryRegion inbox = client.registerMessages(incoming);
                EndpointFixture.connect(worker, client);
                for (int i = 0; i < count; i++) {
                    client.postReceive(i, inbox, 0, SIZE);
                    Payload.write(outgoing.asSlice(0, size), first + i);
                    client.postSend(i, outbox, 0, size, SIGNALED);
                    success(client.getSendCompletion(worker.timeout()));
                    receive(worker, client, incoming, first + i);
                }
                client.disconnect(worker.timeout());
            }
        });
        if (transfers > 0) {
            remote(worker, fixture, first, size, transfers);
        }
    }

    /** Sends each message back, and waits for the peer to disconnect. */
    private static void serve(Worker worker, Endpoint server, MemorySegment memory, long first, int count)
            throws Exception {
        MemoryRegion region = server.registerMessages(memory);
        server.postReceive(0, region, 0, SIZE);
        server.accept(ConnectionParameters.defaults(), worker.timeout());
        for (int i = 0; i < count; i++) {
            int length = receive(worker, server, memory, first + i);
            if (i + 1 < count) {
                // Into the same memory as what is sent: the client sends its next message only after it has this one.
                server.postReceive(i, region, 0, SIZE);
            }
            server.postSend(i, region, 0, length, SIGNALED);
            WorkCompletion sent = server.getSendCompletion(worker.timeout());
            if (i + 1 < count) {
                success(sent);
            } else {
                delivered(sent);
            }
        }
        server.disconnect(worker.timeout());
    }

    /** Only reads and writes the peer's memory over a connection of its own. */
    private static void remote(Worker worker, EndpointFixture fixture, long first, int size, int transfers)
            throws Exception {
        try (Arena arena = Arena.ofShared(); Endpoint client = fixture.client(worker)) {
            MemorySegment memory = arena.allocate(SIZE);
            MemorySegment peers = arena.allocate(SIZE);
            MemorySegment note = arena.allocate(NOTE);
            worker.runBoth(() -> {
                try (Endpoint server = fixture.listener().getRequest(worker.timeout())) {
                    serveMemory(worker, server, peers, note);
                }
            }, () -> {
                MemoryRegion region = client.registerMessages(memory);
                // The first message from the peer holds its keys.
                client.postReceive(0, region, 0, NOTE);
                EndpointFixture.connect(worker, client);
                success(client.getReceiveCompletion(worker.timeout()));
                ByteBuffer message = memory.asByteBuffer();
                RemoteMemory readable = RemoteMemory.decode(message);
                RemoteMemory writable = RemoteMemory.decode(message);
                for (int i = 0; i < transfers; i++) {
                    Payload.write(memory.asSlice(0, size), first + i);
                    client.postWrite(i, region, 0, size, SIGNALED, writable);
                    success(client.getSendCompletion(worker.timeout()));
                    worker.counters().countOperation("write", size);
                    memory.asSlice(0, size).fill((byte) 0);
                    client.postRead(i, region, 0, size, SIGNALED, readable);
                    success(client.getSendCompletion(worker.timeout()));
                    Payload.check(memory.asSlice(0, size), first + i);
                    worker.counters().countOperation("read", size);
                }
                client.disconnect(worker.timeout());
            });
        }
    }

    private static void serveMemory(Worker worker, Endpoint server, MemorySegment memory, MemorySegment note)
            throws Exception {
        MemoryRegion outbox = server.registerMessages(note);
        MemoryRegion readable = server.registerRead(memory);
        MemoryRegion writable = server.registerWrite(memory);
        server.accept(ConnectionParameters.defaults(), worker.timeout());
        ByteBuffer message = note.asByteBuffer();
        readable.remoteMemory().encode(message);
        writable.remoteMemory().encode(message);
        server.postSend(0, outbox, 0, NOTE, SIGNALED);
        // The client gets the keys, or it would not go on.
        delivered(server.getSendCompletion(worker.timeout()));
        // until the client disconnects
        Expect.failure(DisconnectedException.class, () -> server.getReceiveCompletion(worker.timeout()));
        server.disconnect(worker.timeout());
    }

    private static int receive(Worker worker, Endpoint endpoint, MemorySegment memory, long number) throws Exception {
        WorkCompletion done = endpoint.getReceiveCompletion(worker.timeout());
        success(done);
        Payload.check(memory.asSlice(0, done.byteLength()), number);
        worker.counters().countOperation("send", done.byteLength());
        return done.byteLength();
    }

    // The client disconnects when it has what was sent last: on a slow machine before the acknowledgement is looked at.
    private static void delivered(WorkCompletion sent) throws WorkCompletionException {
        if (sent.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            success(sent);
        }
    }

    private static void success(WorkCompletion done) throws WorkCompletionException {
        if (done.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(done);
        }
    }
}
