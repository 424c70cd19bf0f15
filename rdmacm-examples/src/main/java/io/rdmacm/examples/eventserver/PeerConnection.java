// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * The resources of one connection, in either role, and the thread that handles its completions, the poller.
 *
 * <p>The event thread creates the connection, accepts it or connects, offers the memory when the connection is
 * established, and closes it. The poller does the rest, by running the protocol of the program. It may start before the
 * event ESTABLISHED is handled, because a message of the peer may be faster. So each thread has work requests of its
 * own; the queue pair itself may be used by both. The fields that the poller writes are read after it has been joined.
 */
final class PeerConnection implements AutoCloseable {
    /** The size in bytes of each text in the memory that the peer may use. */
    static final int TEXT = 256;
    /** The size of that memory in bytes. */
    static final int MEMORY = 3 * TEXT;

    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    // one message, one operation, the previous message, and the END request
    private static final int SENDS = 4;

    private final CmId id;
    private final Protocol protocol;
    // closed in reverse order
    private final Deque<NativeObject> resources = new ArrayDeque<>();
    private final CompletionChannel completionEvents;
    private final CompletionQueue queue;
    private final MemoryRegion inbox;
    private final MemoryRegion outbox;
    private final MemoryRegion memory;
    private final QueuePair pair;
    private final ReceiveRequest receive;
    // used by the poller only
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final WorkCompletions completions = WorkCompletions.allocate(2 * SENDS);
    private final Thread poller;
    private boolean drained;
    // written by the poller, read when it has ended
    private boolean complete;
    private IOException failure;

    private PeerConnection(CmId id, Protocol protocol) throws RdmaException {
        this.id = id;
        this.protocol = protocol;
        boolean made = false;
        try {
            VerbsContext device = own(id).context();
            ProtectionDomain domain = own(device.allocateProtectionDomain());
            completionEvents = own(device.createCompletionChannel());
            queue = own(device.createCompletionQueue(2 * SENDS, completionEvents));
            // armed, so that the first completion raises an event
            queue.requestNotification(false);
            inbox = own(domain.allocate(RegionMessage.BYTES, AccessFlag.LOCAL_WRITE));
            outbox = own(domain.allocate((long) RegionMessage.Kind.values().length * RegionMessage.BYTES));
            memory = own(domain.allocate(MEMORY, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE));
            pair = own(id.createQueuePair(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(SENDS).maxReceiveRequests(1).build()));
            // Each message has memory of its own: none is overwritten while it may have to be retransmitted.
            for (RegionMessage.Kind kind : RegionMessage.Kind.values()) {
                RegionMessage.of(kind, memory).write(outbox.memory().asSlice(place(kind), RegionMessage.BYTES));
            }
            // Before accept or connect: the first message may arrive as soon as the peer is connected.
            receive = ReceiveRequests.allocate(1, 1).get(0).id(Work.RECEIVE.ordinal())
                    .data(inbox, 0, RegionMessage.BYTES);
            pair.postReceive(receive);
            made = true;
        } finally {
            if (!made) {
                closeResources();
            }
        }
        poller = Thread.ofPlatform().daemon().name("poller of " + id.peerAddress()).start(this::pollUntilDrained);
    }

    /** The kinds of work requests; the ordinal is the id of the request. */
    enum Work { RECEIVE, SEND, WRITE, READ, END }

    /** The program's part in a connection; called by the poller. */
    interface Protocol {
        /** Handles a message of the peer. */
        void received(PeerConnection connection, RegionMessage message) throws IOException;

        /** Handles the completion of a send, write or read of this side. */
        void done(PeerConnection connection, Work work) throws IOException;
    }

    /**
     * Creates what the connection needs, and starts its poller.
     *
     * @param id bound to a device; closed with the connection, or at once if this method fails
     * @param protocol the program's part
     */
    static PeerConnection create(CmId id, Protocol protocol) throws RdmaException {
        return new PeerConnection(id, protocol);
    }

    /** Tells the peer which memory it may use. Called by the event thread. */
    void offerMemory() throws RdmaException {
        send(SendRequests.allocate(1, 1).get(0), RegionMessage.Kind.REGION);
    }

    /** Tells the peer that this side is done with its memory. Called by the poller, as the next two methods are. */
    void sendDone() throws RdmaException {
        send(send, RegionMessage.Kind.DONE);
    }

    /** Writes a text of this side's memory to the peer's memory. */
    void write(int text, RegionMessage peer, int peerText) throws RdmaException {
        pair.postSend(send.id(Work.WRITE.ordinal()).rdmaWrite(peer.address() + offset(peerText), peer.key())
                .data(memory, offset(text), TEXT));
    }

    /** Reads a text of the peer's memory into this side's memory. */
    void read(int text, RegionMessage peer, int peerText) throws RdmaException {
        pair.postSend(send.id(Work.READ.ordinal()).rdmaRead(peer.address() + offset(peerText), peer.key())
                .data(memory, offset(text), TEXT));
    }

    /** Returns one of the texts in the memory that the peer may use, up to the first zero byte. */
    String text(int text) {
        byte[] bytes = memory.memory().asSlice(offset(text), TEXT).toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < TEXT && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    /** Sets one of the texts. */
    void text(int text, String value) {
        memory.memory().asSlice(offset(text), TEXT).fill((byte) 0).setString(0, value);
    }

    /** Disconnects; both sides then get the event DISCONNECTED. */
    void disconnect() throws RdmaException {
        id.disconnect();
    }

    /** Marks the program's part as done. Called by the poller. */
    void complete() {
        complete = true;
    }

    /** Returns whether the program's part is done. Called after {@link #close()}. */
    boolean isComplete() {
        return complete;
    }

    /** Returns the poller's failure, or null if there is none. Called after {@link #close()}. */
    IOException failure() {
        return failure;
    }

    /** Stops the poller, and closes everything in the order that the C library requires. Called by the event thread. */
    @Override
    public void close() throws RdmaException {
        // In the ERROR state all requests are flushed. So is this send, after everything that was posted before it; its
        // completion tells the poller that it was the last one. (A receive would not do: not every device flushes one
        // that is posted in this state.)
        pair.modifyToError();
        pair.postSend(SendRequests.allocate(1, 1).get(0).id(Work.END.ordinal()));
        boolean interrupted = false;
        while (poller.isAlive()) {
            try {
                poller.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        closeResources();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void pollUntilDrained() {
        try {
            while (!drained) {
                // waits for the event, and acknowledges it
                CompletionQueue ready = completionEvents.getEvent(FOREVER);
                // Armed before it is drained, so that a completion after the last poll raises an event.
                ready.requestNotification(false);
                while (ready.poll(completions) > 0) {
                    while (completions.next()) {
                        take();
                    }
                }
            }
        } catch (RdmaException e) {
            fail(e);
        } catch (InterruptedException e) {
            throw new AssertionError("nothing interrupts the poller", e);
        }
    }

    private void take() {
        Work work = Work.values()[(int) completions.workRequestId()];
        if (work == Work.END) {
            drained = true;
            return;
        }
        if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            return;
        }
        try {
            completions.check();
            if (work == Work.RECEIVE) {
                takeMessage();
            } else {
                protocol.done(this, work);
            }
        } catch (IOException e) {
            fail(e);
        }
    }

    private void takeMessage() throws IOException {
        if (completions.byteLength() != RegionMessage.BYTES) {
            throw new IOException("a message of " + completions.byteLength() + " bytes arrived, not of "
                    + RegionMessage.BYTES);
        }
        RegionMessage message = RegionMessage.read(inbox.memory());
        pair.postReceive(receive);
        if (message.length() < MEMORY) {
            throw new IOException("the peer offers " + message.length() + " bytes of memory, not " + MEMORY);
        }
        protocol.received(this, message);
    }

    /** Records the first failure, and disconnects; the event thread then closes the connection. */
    private void fail(IOException reason) {
        if (failure == null) {
            failure = reason;
        }
        try {
            pair.modifyToError();
            id.disconnect();
        } catch (RdmaException e) {
            failure.addSuppressed(e);
        }
    }

    private void send(SendRequest request, RegionMessage.Kind kind) throws RdmaException {
        pair.postSend(request.id(Work.SEND.ordinal()).send().data(outbox, place(kind), RegionMessage.BYTES));
    }

    private <T extends NativeObject> T own(T resource) {
        resources.push(resource);
        return resource;
    }

    private void closeResources() throws RdmaException {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }

    private static long place(RegionMessage.Kind kind) {
        return (long) kind.ordinal() * RegionMessage.BYTES;
    }

    private static long offset(int text) {
        return (long) text * TEXT;
    }
}
