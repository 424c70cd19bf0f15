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
 * All that belongs to one connection, at either side, and the thread that takes its completions, the poller.
 *
 * <p>Which thread does what: the thread of the events makes a connection, accepts or connects it, offers the memory
 * when it is established, and closes it. All else is done by the poller, which runs the protocol of the program. That
 * may begin before the event ESTABLISHED is handled, for the peer's message may be faster. So each thread has work
 * requests of its own; the queue pair itself may be used by both. What the poller leaves behind is looked at when it
 * has been joined.
 */
final class PeerConnection implements AutoCloseable {
    /** Bytes of a text in the memory that the peer may use. */
    static final int TEXT = 256;
    /** Bytes of that memory. */
    static final int MEMORY = 3 * TEXT;

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
    // A message and an operation at a time, the message before, and the last request of all.
    private static final int SENDS = 4;

    private final CmId id;
    private final Protocol protocol;
    // What was made first is closed last.
    private final Deque<NativeObject> resources = new ArrayDeque<>();
    private final CompletionChannel completionEvents;
    private final CompletionQueue queue;
    private final MemoryRegion inbox;
    private final MemoryRegion outbox;
    private final MemoryRegion memory;
    private final QueuePair pair;
    private final ReceiveRequest receive;
    // Of the poller.
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final WorkCompletions completions = WorkCompletions.allocate(2 * SENDS);
    private final Thread poller;
    private boolean drained;
    // Of the poller; to be asked when that has ended.
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
            // From now on the first completion is an event.
            queue.requestNotification(false);
            inbox = own(domain.allocate(RegionMessage.BYTES, AccessFlag.LOCAL_WRITE));
            outbox = own(domain.allocate((long) RegionMessage.Kind.values().length * RegionMessage.BYTES));
            memory = own(domain.allocate(MEMORY, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE));
            pair = own(id.createQueuePair(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(SENDS).maxReceiveRequests(1).build()));
            // Each message has a place of its own: none is written over while it may have to be sent again.
            for (RegionMessage.Kind kind : RegionMessage.Kind.values()) {
                RegionMessage.of(kind, memory).write(outbox.memory().asSlice(place(kind), RegionMessage.BYTES));
            }
            // Before accept or connect: the first message can come as soon as the peer knows of the connection.
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

    /** The kinds of work requests; their ids. */
    enum Work { RECEIVE, SEND, WRITE, READ, END }

    /** What a program does with a connection; called by the poller. */
    interface Protocol {
        /** A message came. */
        void received(PeerConnection connection, RegionMessage message) throws IOException;

        /** A send, write or read of this side is done. */
        void done(PeerConnection connection, Work work) throws IOException;
    }

    /**
     * Makes what the connection needs, and starts its poller.
     *
     * @param id bound to a device; from now on it belongs to the connection, also when this fails
     * @param protocol what to do
     */
    static PeerConnection create(CmId id, Protocol protocol) throws RdmaException {
        return new PeerConnection(id, protocol);
    }

    /** Tells the peer of the memory that it may use. By the thread of the events. */
    void offerMemory() throws RdmaException {
        send(SendRequests.allocate(1, 1).get(0), RegionMessage.Kind.REGION);
    }

    /** Tells the peer that this side is done with its memory. By the poller, as are the two that follow. */
    void sendDone() throws RdmaException {
        send(send, RegionMessage.Kind.DONE);
    }

    /** Writes a text of this side's memory to the peer's. */
    void write(int text, RegionMessage peer, int peerText) throws RdmaException {
        pair.postSend(send.id(Work.WRITE.ordinal()).rdmaWrite(peer.address() + offset(peerText), peer.key())
                .data(memory, offset(text), TEXT));
    }

    /** Reads a text of the peer's memory into this side's. */
    void read(int text, RegionMessage peer, int peerText) throws RdmaException {
        pair.postSend(send.id(Work.READ.ordinal()).rdmaRead(peer.address() + offset(peerText), peer.key())
                .data(memory, offset(text), TEXT));
    }

    /** One of the texts in the memory that the peer may use: ends with a zero, or where its place ends. */
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

    /** Ends the connection; both sides get the event DISCONNECTED then. */
    void disconnect() throws RdmaException {
        id.disconnect();
    }

    /** All has been done that was to be done. By the poller. */
    void complete() {
        complete = true;
    }

    /** Whether all has been done. After {@link #close()}. */
    boolean isComplete() {
        return complete;
    }

    /** What the poller failed with; null when it did not. After {@link #close()}. */
    IOException failure() {
        return failure;
    }

    /** Tears all down, in the order that the C library demands. By the thread of the events. */
    @Override
    public void close() throws RdmaException {
        // In the state ERROR all that is posted is flushed, with errors. So is this send, after all that came before
        // it: it tells the poller that nothing more will come. (A receive could not: one that is posted in this state
        // is not flushed by every device.)
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
                // Waits for the event, and acknowledges it.
                CompletionQueue ready = completionEvents.getEvent(FOR_EVER);
                // Armed again before it is drained: what comes after the last poll is an event again.
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
            throw new AssertionError("nobody knows this thread who could interrupt it", e);
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
            throw new IOException("a message of " + completions.byteLength() + " bytes came, not of "
                    + RegionMessage.BYTES);
        }
        RegionMessage message = RegionMessage.read(inbox.memory());
        pair.postReceive(receive);
        if (message.length() < MEMORY) {
            throw new IOException("the peer offers " + message.length() + " bytes of memory, not " + MEMORY);
        }
        protocol.received(this, message);
    }

    /** The first failure counts. It ends the connection, and the thread of the events will close it. */
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
