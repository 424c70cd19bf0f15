// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.examples.support.ProgramThread;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * One connection of rping, in either role. For each ping the messages are:
 *
 * <pre>
 * client: the ping is here      server: reads it there, go ahead
 * client: the echo goes here    server: writes it there, go ahead
 * </pre>
 */
final class RpingConnection implements AutoCloseable {
    /** How long to wait for the peer. */
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final int SENDS = 16;
    // how long the peer may take to disconnect
    private static final Duration GOODBYE = Duration.ofSeconds(20);

    private final CmId id;
    private final String role;
    private final Rping options;
    private final Resources open = new Resources();
    private final QueuePair pair;
    private final MemoryRegion buffer;
    private final MemoryRegion outbox;
    private final MemoryRegion inbox;
    private final ReceiveRequest receive;
    private final SendRequest send;
    private final SendRequest transfer;
    private final WorkCompletions completions = WorkCompletions.allocate(SENDS);
    private final int[] done = new int[Work.values().length];
    private boolean outboxInUse;
    // null until there is a connection
    private ProgramThread disconnectWatch;

    /** Creates what a connection needs. */
    RpingConnection(CmId id, String role, Rping options) throws IOException {
        this.id = id;
        this.role = role;
        this.options = options;
        boolean complete = false;
        try {
            VerbsContext device = id.context();
            ProtectionDomain domain = open.add(device.allocateProtectionDomain());
            CompletionChannel events = open.add(device.createCompletionChannel());
            QueuePairInitAttributes attributes = QueuePairInitAttributes.builder()
                    .completionQueue(open.add(device.createCompletionQueue(2 * SENDS, events)))
                    .maxSendRequests(SENDS).maxReceiveRequests(2).build();
            inbox = open.add(domain.allocate(RemoteMemory.COMPACT_BYTES, AccessFlag.LOCAL_WRITE));
            outbox = open.add(domain.allocate(RemoteMemory.COMPACT_BYTES));
            buffer = open.add(domain.allocate(options.size, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE));
            pair = open.add(options.ownQueuePair ? domain.createQueuePair(attributes)
                    : id.createQueuePair(domain, attributes));
            SendRequests sends = SendRequests.allocate(2, 1);
            send = sends.get(0).id(Work.SEND.ordinal()).send().data(outbox, 0, RemoteMemory.COMPACT_BYTES);
            transfer = sends.get(1);
            receive = ReceiveRequests.allocate(1, 1).get(0).id(Work.RECEIVE.ordinal())
                    .data(inbox, 0, RemoteMemory.COMPACT_BYTES);
            if (options.ownQueuePair) {
                id.modifyQueuePair(pair, QueuePairState.INIT);
            }
            // Before the connection is established: the peer may send its first message at once.
            pair.postReceive(receive);
            complete = true;
        } finally {
            if (!complete) {
                open.close();
            }
        }
        options.debug("created %s", pair);
    }

    /** The kinds of work requests; the ordinal is the id of the request. */
    private enum Work { RECEIVE, SEND, READ, WRITE }

    /** Thrown when the peer has ended the connection. */
    static final class EndedException extends IOException {
        private static final long serialVersionUID = 1L;

        EndedException(String message) {
            super(message);
        }
    }

    /** Accepts the connection, on the server. */
    void accept() throws IOException, InterruptedException {
        if (options.ownQueuePair) {
            bringUp();
        }
        id.accept(parameters());
        await(CmEventType.ESTABLISHED);
        established();
    }

    /** Connects, on the client. */
    void connect() throws IOException, InterruptedException {
        id.connect(parameters());
        if (options.ownQueuePair) {
            await(CmEventType.CONNECT_RESPONSE);
            bringUp();
            id.establish();
        } else {
            await(CmEventType.ESTABLISHED);
        }
        established();
    }

    /** Returns the buffer that pings are read into and written from. */
    MemoryRegion buffer() {
        return buffer;
    }

    /** Allocates more registered memory for this connection, to be closed before the connection. */
    MemoryRegion allocate(int size, AccessFlag... access) throws IOException {
        return pair.protectionDomain().allocate(size, access);
    }

    /** Sends the peer the address of a region that it may use. */
    void offer(MemoryRegion region) throws IOException, InterruptedException {
        send(region.remoteMemory());
    }

    /** Tells the peer to go on; the content of the message does not matter. */
    void goAhead() throws IOException, InterruptedException {
        send(buffer.remoteMemory());
        options.debug("sent go-ahead");
    }

    /** Waits for a message from the peer: an offer or a go-ahead. */
    RemoteMemory receive() throws IOException, InterruptedException {
        await(Work.RECEIVE);
        RemoteMemory offered = RemoteMemory.decodeCompact(inbox.memory().asByteBuffer());
        options.debug("received %s", offered);
        pair.postReceive(receive);
        return offered;
    }

    /** Reads the peer's memory into the buffer. */
    void read(RemoteMemory source) throws IOException, InterruptedException {
        if (source.length() > buffer.length()) {
            throw new IOException("the client's pings of " + source.length() + " bytes do not fit into the "
                    + buffer.length() + " of this server: start it with -S " + source.length());
        }
        transfer.id(Work.READ.ordinal()).rdmaRead(source.address(), source.key())
                .data(buffer, 0, source.length());
        pair.postSend(transfer);
        await(Work.READ);
        options.debug("read the ping");
    }

    /** Writes the first bytes of the buffer to the peer's memory. */
    void write(RemoteMemory sink, int length) throws IOException, InterruptedException {
        if (length > sink.length()) {
            throw new IOException("the echo of " + length + " bytes does not fit into the " + sink.length()
                    + " that the client offers");
        }
        transfer.id(Work.WRITE.ordinal()).rdmaWrite(sink.address(), sink.key()).data(buffer, 0, length);
        pair.postSend(transfer);
        await(Work.WRITE);
        options.debug("wrote the echo");
    }

    /** Disconnects, if there is a connection, and waits a while until the peer has too; then frees everything. */
    @Override
    public void close() throws IOException {
        try (open; ProgramThread watch = disconnectWatch) {
            if (watch != null) {
                disconnect();
                watch.await(GOODBYE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void disconnect() throws IOException {
        // The connection manager does this by itself only for queue pairs that it created.
        pair.modifyToError();
        id.disconnect();
    }

    /** Moves the queue pair to RTS; the connection manager does this by itself for the queue pairs that it created. */
    private void bringUp() throws IOException {
        id.modifyQueuePair(pair, QueuePairState.INIT);
        id.modifyQueuePair(pair, QueuePairState.RTR);
        id.modifyQueuePair(pair, QueuePairState.RTS);
    }

    private ConnectionParameters parameters() {
        // rping has at most one read outstanding.
        return ConnectionParameters.builder().responderResources(1).initiatorDepth(1)
                .queuePairNumber(options.ownQueuePair ? pair.number() : 0).build();
    }

    private void await(CmEventType expected) throws IOException, InterruptedException {
        id.channel().await(id, expected, TIMEOUT).close();
    }

    private void established() {
        options.debug("connected with %s", id.peerAddress());
        disconnectWatch = new ProgramThread("rping-disconnect-watch", this::answerDisconnect);
    }

    /**
     * Waits for the peer to disconnect, which only the event channel reports. Disconnecting this side too flushes all
     * posted requests, so that a thread that waits for a completion wakes up.
     */
    private void answerDisconnect() throws IOException, InterruptedException {
        try (CmEvent event = id.channel().await(id, CmEventType.DISCONNECTED, Rping.FOREVER)) {
            options.report(role + " DISCONNECT EVENT...");
            options.debug("%s", event);
        }
        disconnect();
    }

    private void send(RemoteMemory message) throws IOException, InterruptedException {
        if (outboxInUse) {
            await(Work.SEND);
        }
        message.encodeCompact(outbox.memory().asByteBuffer());
        pair.postSend(send);
        outboxInUse = true;
    }

    /** Waits for the completion of a kind of request, and counts other completions that arrive meanwhile. */
    private void await(Work work) throws IOException, InterruptedException {
        while (done[work.ordinal()] == 0) {
            pair.sendCompletionQueue().await(completions, TIMEOUT);
            while (completions.next()) {
                take();
            }
        }
        done[work.ordinal()]--;
    }

    private void take() throws IOException {
        if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new EndedException("the peer ended the connection in the middle of a ping");
        }
        completions.check();
        int work = (int) completions.workRequestId();
        if (work == Work.RECEIVE.ordinal() && completions.byteLength() != RemoteMemory.COMPACT_BYTES) {
            throw new IOException("a message of " + completions.byteLength() + " bytes arrived, not of "
                    + RemoteMemory.COMPACT_BYTES + ": the peer is not an rping");
        }
        done[work]++;
    }
}
