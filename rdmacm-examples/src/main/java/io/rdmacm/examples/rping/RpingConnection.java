// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
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

    private final CmId id;
    private final String role;
    private final Rping options;
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
    private DisconnectWatch disconnectWatch;

    private RpingConnection(CmId id, String role, Rping options, QueuePair pair,
            MemoryRegion inbox, MemoryRegion outbox, MemoryRegion buffer) throws IOException {
        this.id = id;
        this.role = role;
        this.options = options;
        this.pair = pair;
        this.inbox = inbox;
        this.outbox = outbox;
        this.buffer = buffer;
        SendRequests sends = SendRequests.allocate(2, 1);
        send = sends.get(0).id(Work.SEND.ordinal()).send().data(outbox, 0, RemoteBuffer.MESSAGE);
        transfer = sends.get(1);
        receive = ReceiveRequests.allocate(1, 1).get(0).id(Work.RECEIVE.ordinal())
                .data(inbox, 0, RemoteBuffer.MESSAGE);
        if (options.makesOwnQueuePair()) {
            id.modifyQueuePair(pair, QueuePairState.INIT);
        }
        // Before the connection is established: the peer may send its first message at once.
        pair.postReceive(receive);
    }

    /** The kinds of work requests; the ordinal is the id of the request. */
    private enum Work { RECEIVE, SEND, READ, WRITE }

    /** Uses a connection. */
    @FunctionalInterface
    interface Session {
        void run(RpingConnection connection) throws IOException, InterruptedException;
    }

    /** Thrown when the peer has ended the connection. */
    static final class EndedException extends IOException {
        private static final long serialVersionUID = 1L;

        EndedException(String message) {
            super(message);
        }
    }

    /** Creates what a connection needs, runs the session, and closes everything in reverse order. */
    static void open(CmId id, String role, Rping options, Session session)
            throws IOException, InterruptedException {
        VerbsContext device = id.context();
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionChannel events = device.createCompletionChannel();
                CompletionQueue queue = device.createCompletionQueue(2 * SENDS, events);
                MemoryRegion inbox = domain.allocate(RemoteBuffer.MESSAGE, AccessFlag.LOCAL_WRITE);
                MemoryRegion outbox = domain.allocate(RemoteBuffer.MESSAGE);
                MemoryRegion buffer = domain.allocate(options.size(), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
                QueuePair pair = createPair(id, domain, queue, options.makesOwnQueuePair());
                RpingConnection connection = new RpingConnection(id, role, options, pair, inbox, outbox, buffer)) {
            options.debug("created %s", pair);
            session.run(connection);
        }
    }

    /** Accepts the connection, on the server. */
    void accept() throws IOException, InterruptedException {
        if (options.makesOwnQueuePair()) {
            bringUp();
        }
        id.accept(parameters());
        await(CmEventType.ESTABLISHED);
        established();
    }

    /** Connects, on the client. */
    void connect() throws IOException, InterruptedException {
        id.connect(parameters());
        if (options.makesOwnQueuePair()) {
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
        send(RemoteBuffer.of(region));
    }

    /** Tells the peer to go on; the content of the message does not matter. */
    void goAhead() throws IOException, InterruptedException {
        send(RemoteBuffer.of(buffer));
        options.debug("sent go-ahead");
    }

    /** Waits for a message from the peer: an offer or a go-ahead. */
    RemoteBuffer receive() throws IOException, InterruptedException {
        await(Work.RECEIVE);
        RemoteBuffer offered = RemoteBuffer.read(inbox.memory());
        options.debug("received %s", offered);
        pair.postReceive(receive);
        return offered;
    }

    /** Reads the peer's memory into the buffer. */
    void read(RemoteBuffer source) throws IOException, InterruptedException {
        if (source.length() > buffer.length()) {
            throw new IOException("the client's pings of " + source.length() + " bytes do not fit into the "
                    + buffer.length() + " of this server: start it with -S " + source.length());
        }
        transfer.id(Work.READ.ordinal()).rdmaRead(source.address(), source.key())
                .data(buffer, 0, (int) source.length());
        pair.postSend(transfer);
        await(Work.READ);
        options.debug("read the ping");
    }

    /** Writes the first bytes of the buffer to the peer's memory. */
    void write(RemoteBuffer sink, int length) throws IOException, InterruptedException {
        if (length > sink.length()) {
            throw new IOException("the echo of " + length + " bytes does not fit into the " + sink.length()
                    + " that the client offers");
        }
        transfer.id(Work.WRITE.ordinal()).rdmaWrite(sink.address(), sink.key()).data(buffer, 0, length);
        pair.postSend(transfer);
        await(Work.WRITE);
        options.debug("wrote the echo");
    }

    /** Disconnects, if there is a connection. */
    @Override
    public void close() throws IOException {
        if (disconnectWatch != null) {
            disconnectWatch.close();
        }
    }

    private static QueuePair createPair(CmId id, ProtectionDomain domain, CompletionQueue queue, boolean own)
            throws IOException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(SENDS).maxReceiveRequests(2).build();
        return own ? domain.createQueuePair(attributes) : id.createQueuePair(domain, attributes);
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
                .queuePairNumber(options.makesOwnQueuePair() ? pair.number() : 0).build();
    }

    private void await(CmEventType expected) throws IOException, InterruptedException {
        id.channel().await(id, expected, TIMEOUT).close();
    }

    private void established() {
        options.debug("connected with %s", id.peerAddress());
        disconnectWatch = new DisconnectWatch(id, pair, role, options);
    }

    private void send(RemoteBuffer message) throws IOException, InterruptedException {
        if (outboxInUse) {
            await(Work.SEND);
        }
        message.write(outbox.memory());
        pair.postSend(send);
        outboxInUse = true;
    }

    /** Waits for the completion of a kind of request, and counts other completions that arrive meanwhile. */
    private void await(Work work) throws IOException, InterruptedException {
        while (done[work.ordinal()] == 0) {
            pair.sendQueue().await(completions, TIMEOUT);
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
        if (work == Work.RECEIVE.ordinal() && completions.byteLength() != RemoteBuffer.MESSAGE) {
            throw new IOException("a message of " + completions.byteLength() + " bytes arrived, not of "
                    + RemoteBuffer.MESSAGE + ": the peer is not an rping");
        }
        done[work]++;
    }
}
