// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** This side of a transfer with a {@link Server} on the other host. */
final class Client implements AutoCloseable {
    /** 67 ms: a lost packet that nothing follows is sent again after this time. */
    static final AckTimeout SHORT_TIMEOUT = AckTimeout.ofCode(14);
    /** 537 ms: with 6 retries a sender gives up after some 4 s. */
    static final AckTimeout PATIENT = AckTimeout.ofCode(17);
    /** 4.3 s: with 6 retries a sender gives up after half a minute. */
    static final AckTimeout VERY_PATIENT = AckTimeout.ofCode(20);
    static final ConnectionParameters SIX_RETRIES = ConnectionParameters.builder().retryCount(6).build();

    private static final Set<SendFlag> SIGNALED = Set.of(SendFlag.SIGNALED);
    private static final int FEW_CHUNKS = 4;

    private final Line line;
    private final Endpoint endpoint;
    private final MemoryRegion region;
    private final RemoteMemory remote;
    private final int chunks;
    private final String way;

    /**
     * Connects.
     *
     * @param memory of this side, what is moved or where it goes
     * @param way send, write or read
     * @param ackTimeout after which a lost packet is sent again
     */
    Client(MemorySegment memory, String way, AckTimeout ackTimeout, ConnectionParameters parameters) throws Exception {
        this.way = way;
        chunks = Math.toIntExact(memory.byteSize() / Server.CHUNK);
        line = OtherHost.play(Server.class, memory.byteSize(), way);
        endpoint = connect((int) line.hearNumber(), ackTimeout, parameters);
        region = endpoint.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
        remote = new RemoteMemory(line.hearNumber(), (int) line.hearNumber(), memory.byteSize());
    }

    /** One that writes. */
    static Client writer(Arena arena, AckTimeout ackTimeout, ConnectionParameters parameters) throws Exception {
        return new Client(arena.allocate((long) FEW_CHUNKS * Server.CHUNK, 4096), "write", ackTimeout, parameters);
    }

    static Endpoint connect(int port, AckTimeout ackTimeout, ConnectionParameters parameters) throws Exception {
        Endpoint endpoint = resolved(port, ackTimeout);
        boolean connected = false;
        try {
            endpoint.connect(parameters, Server.TIMEOUT);
            connected = true;
            return endpoint;
        } finally {
            if (!connected) {
                endpoint.close();
            }
        }
    }

    /** Ready to connect. */
    static Endpoint resolved(int port, AckTimeout ackTimeout) throws Exception {
        Endpoint endpoint = Endpoint.createActive(OtherHost.address(port), PortSpace.TCP, null, Server.TIMEOUT);
        endpoint.id().options().ackTimeout(ackTimeout);
        endpoint.createQueuePair(Server.attributes());
        return endpoint;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Posts the work of one chunk. */
    void post(int chunk) throws RdmaException {
        long offset = (long) chunk % chunks * Server.CHUNK;
        switch (way) {
            case "send" -> endpoint.postSend(chunk, region, offset, Server.CHUNK, SIGNALED);
            case "write" -> endpoint.postWrite(chunk, region, offset, Server.CHUNK, SIGNALED, remote.slice(offset));
            default -> endpoint.postRead(chunk, region, offset, Server.CHUNK, SIGNALED, remote.slice(offset));
        }
    }

    /** The next completion, of whatever status. */
    WorkCompletion completion() throws Exception {
        return endpoint.getSendCompletion(Server.TIMEOUT);
    }

    private void expect(int chunk) throws Exception {
        WorkCompletion completion = completion();
        if (completion.status() != WorkCompletionStatus.SUCCESS || completion.workRequestId() != chunk) {
            throw new AssertionError("instead of chunk " + chunk + ": " + completion);
        }
    }

    /** Moves one chunk. */
    void move(int chunk) throws Exception {
        post(chunk);
        expect(chunk);
    }

    /** Moves a chunk after the other until one fails; its status. */
    WorkCompletionStatus moveUntilOneFails(Duration limit) throws Exception {
        for (int chunk = 0;; chunk++) {
            post(chunk);
            WorkCompletion completion = endpoint.getSendCompletion(limit);
            if (completion.status() != WorkCompletionStatus.SUCCESS) {
                return completion.status();
            }
        }
    }

    /** Moves all of it, and asks the other side for the checksum of its memory. */
    long transfer() throws Exception {
        int posted = 0;
        for (int done = 0; done < chunks; done++) {
            while (posted < Math.min(chunks, done + Server.WINDOW)) {
                post(posted++);
            }
            expect(done);
        }
        if (!way.equals("send")) {
            line.say("done");
        }
        return line.hearNumber();
    }

    @Override
    public void close() throws IOException {
        region.close();
        endpoint.close();
        line.close();
    }
}
