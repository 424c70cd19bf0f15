// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.random.RandomGenerator;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** Synchronous endpoints: messages there and back, and reads and writes of the server's memory. */
final class Endpoints implements Act {
    private static final int SIZE = 8192;
    private static final Set<SendFlag> SIGNALED = Set.of(SendFlag.SIGNALED);

    private final int most;

    /**
     * The act.
     *
     * @param most so many messages a connection at most
     */
    Endpoints(int most) {
        this.most = most;
    }

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        EndpointStand stand = EndpointStand.of(stage);
        long first = random.nextLong();
        int count = 1 + random.nextInt(most);
        int size = Payload.HEADER + random.nextInt(SIZE - Payload.HEADER);
        int transfers = random.nextInt(most);
        stage.together(() -> {
            try (Arena arena = Arena.ofShared();
                    Endpoint server = stand.listener().getRequest(stage.patience())) {
                serve(stage, server, arena.allocate(SIZE), first, count);
            }
        }, () -> {
            try (Arena arena = Arena.ofShared(); Endpoint client = stand.client(stage)) {
                MemorySegment outgoing = arena.allocate(SIZE);
                MemorySegment incoming = arena.allocate(SIZE);
                MemoryRegion outbox = client.registerMessages(outgoing);
                MemoryRegion inbox = client.registerMessages(incoming);
                EndpointStand.connect(stage, client);
                for (int i = 0; i < count; i++) {
                    client.postReceive(i, inbox, 0, SIZE);
                    Payload.write(outgoing.asSlice(0, size), first + i);
                    client.postSend(i, outbox, 0, size, SIGNALED);
                    success(client.getSendCompletion(stage.patience()));
                    receive(stage, client, incoming, first + i);
                }
                client.disconnect(stage.patience());
            }
        });
        if (transfers > 0) {
            remote(stage, stand, first, size, transfers);
        }
    }

    /** Sends each message back, and waits for the peer to leave. */
    private static void serve(Stage stage, Endpoint server, MemorySegment memory, long first, int count)
            throws Exception {
        MemoryRegion region = server.registerMessages(memory);
        server.postReceive(0, region, 0, SIZE);
        server.accept(ConnectionParameters.defaults(), stage.patience());
        for (int i = 0; i < count; i++) {
            int length = receive(stage, server, memory, first + i);
            if (i + 1 < count) {
                // Beside what is sent: nothing can arrive before that.
                server.postReceive(i, region, 0, SIZE);
            }
            server.postSend(i, region, 0, length, SIGNALED);
            success(server.getSendCompletion(stage.patience()));
        }
        server.disconnect(stage.patience());
    }

    /** A connection over which nothing but memory is read and written. */
    private static void remote(Stage stage, EndpointStand stand, long first, int size, int transfers)
            throws Exception {
        try (Arena arena = Arena.ofShared(); Endpoint client = stand.client(stage)) {
            MemorySegment memory = arena.allocate(SIZE);
            MemorySegment peers = arena.allocate(SIZE);
            MemorySegment note = arena.allocate(RemoteKeys.SIZE);
            stage.together(() -> {
                try (Endpoint server = stand.listener().getRequest(stage.patience())) {
                    serveMemory(stage, server, peers, note);
                }
            }, () -> {
                MemoryRegion region = client.registerMessages(memory);
                // The peer's keys, which it sends first of all.
                client.postReceive(0, region, 0, RemoteKeys.SIZE);
                EndpointStand.connect(stage, client);
                success(client.getReceiveCompletion(stage.patience()));
                RemoteKeys keys = RemoteKeys.read(memory);
                for (int i = 0; i < transfers; i++) {
                    Payload.write(memory.asSlice(0, size), first + i);
                    client.postWrite(i, region, 0, size, SIGNALED, keys.address(), keys.writeKey());
                    success(client.getSendCompletion(stage.patience()));
                    stage.tally().did("write", size);
                    memory.asSlice(0, size).fill((byte) 0);
                    client.postRead(i, region, 0, size, SIGNALED, keys.address(), keys.readKey());
                    success(client.getSendCompletion(stage.patience()));
                    Payload.check(memory.asSlice(0, size), first + i);
                    stage.tally().did("read", size);
                }
                client.disconnect(stage.patience());
            });
        }
    }

    private static void serveMemory(Stage stage, Endpoint server, MemorySegment memory, MemorySegment note)
            throws Exception {
        MemoryRegion outbox = server.registerMessages(note);
        MemoryRegion readable = server.registerRead(memory);
        MemoryRegion writable = server.registerWrite(memory);
        server.accept(ConnectionParameters.defaults(), stage.patience());
        new RemoteKeys(readable.remoteAddress(), readable.remoteKey(), writable.remoteKey()).write(note);
        server.postSend(0, outbox, 0, RemoteKeys.SIZE, SIGNALED);
        success(server.getSendCompletion(stage.patience()));
        // until the client leaves
        Stage.failing(DisconnectedException.class, () -> server.getReceiveCompletion(stage.patience()));
        server.disconnect(stage.patience());
    }

    private static int receive(Stage stage, Endpoint endpoint, MemorySegment memory, long number) throws Exception {
        WorkCompletion done = endpoint.getReceiveCompletion(stage.patience());
        success(done);
        Payload.check(memory.asSlice(0, done.byteLength()), number);
        stage.tally().did("send", done.byteLength());
        return done.byteLength();
    }

    private static void success(WorkCompletion done) throws WorkCompletionException {
        if (done.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(done);
        }
    }
}
