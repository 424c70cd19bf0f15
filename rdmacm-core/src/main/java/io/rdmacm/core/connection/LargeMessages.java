// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.pool.CachedRegistration;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

/**
 * The rendezvous of a connection: messages that are longer than the receives of the peer, which it reads. The sender
 * announces a message: a send with an immediate value that no program uses, and the {@link RemoteMemory}. The receiver
 * reads it into a buffer of its own and answers with an empty send of the same kind. Announcements and answers give
 * their receives back at once, and the reads need no program, so two peers may announce to each other at the same time.
 *
 * <p>Everything happens in order, so nothing has a number: reads end in the order of the announcements, and so do the
 * answers. What arrives behind an announcement waits until it has been read. The receiver says when it connects how
 * many announcements it takes, which have not been answered; a buffer that the program holds delays later ones.
 *
 * <p>Used with the lock of the loop held.
 */
final class LargeMessages implements ReceiveBuffer.Owner {
    /** The immediate value of announcements and answers. */
    static final int IMMEDIATE = 0x726d4a4c;

    // Small enough for every device; messages of the program get their turn between pieces.
    private static final int PIECE = 1 << 23;
    private static final int MOST_PIECES = 4;

    private final Connection connection;
    private final MessageLink link;
    private final DeviceResources device;
    private final Loop loop;
    private final SendRing ring;
    private final Operations operations;
    private final ConnectionCounters.Recorder counters;
    private final int size;
    private final int most;
    // what the program can receive
    private final ArrayDeque<ReceiveBuffer> arrived;
    private final Condition bufferTaken;

    // Every connection has these queues, and few use them: they begin without room.
    // The receiver: what was announced and not delivered yet, and who is to be answered.
    private final ArrayDeque<Incoming> incoming = new ArrayDeque<>(0);
    private final List<RegisteredSlice> buffers = new ArrayList<>();
    private final ArrayDeque<RegisteredSlice> free = new ArrayDeque<>(0);
    private boolean taking;
    private int pieces;
    private int unanswered;

    // The sender: what was announced and not answered, and whose handlers are to be called.
    private final ArrayDeque<Outgoing> outgoing = new ArrayDeque<>(0);
    private final ArrayDeque<Outgoing> answered = new ArrayDeque<>(0);
    // what the device of the peer may read until there is an answer, or no queue pair
    private final List<CachedRegistration> registrations = new ArrayList<>();
    private long announcedCount;
    private long answeredCount;
    private int pendingHandlers;
    private boolean closed;

    LargeMessages(Connection connection, MessageLink link, DeviceResources device, ConnectionQueues queues,
            Operations operations, ConnectionCounters.Recorder counters, ArrayDeque<ReceiveBuffer> arrived) {
        this.connection = connection;
        this.link = link;
        this.device = device;
        this.loop = queues.loop();
        this.ring = queues.ring();
        this.operations = operations;
        this.counters = counters;
        this.size = connection.settings().largeMessageSize();
        this.most = connection.settings().largeMessages();
        this.arrived = arrived;
        this.bufferTaken = loop.lock.newCondition();
    }

    /** A message that the peer has announced, and what has arrived behind it. */
    private final class Incoming implements SendRing.Immediate {
        private final RemoteMemory source;
        private final List<ReceiveBuffer> behind = new ArrayList<>();
        private @Nullable RegisteredSlice buffer;
        private long requested;
        private long read;

        Incoming(RemoteMemory source) {
            this.source = source;
        }

        /** A piece has been read, or never will be. */
        @Override
        public void completed(@Nullable Connection none, long piece, @Nullable RdmaException failure) {
            pieces--;
            read += failure == null ? piece : 0;
        }
    }

    /** A message that was announced to the peer. */
    private record Outgoing(@Nullable OperationHandler handler, long context,
            @Nullable CachedRegistration registration) {
    }

    // The sender.

    /** Returns whether the peer reads messages of a length. May be called without the lock. */
    boolean areFor(long length) {
        AgreedSizes peer = link.peerSizes();
        return peer != null && areAgreed() && length > peer.messageSize();
    }

    /** Returns whether both peers take large messages. May be called without the lock. */
    boolean areAgreed() {
        AgreedSizes peer = link.peerSizes();
        return peer != null && peer.hasLarge() && link.takesLargeMessages();
    }

    /** Checks whether a message can be announced, but for its memory. May be called without the lock. */
    void check(long length) throws RdmaException {
        int limit = Objects.requireNonNull(link.peerSizes()).largeSize();
        if (length > limit) {
            throw new IllegalArgumentException("a message of " + length + " bytes to a peer that receives at most "
                    + limit + " bytes, on " + connection);
        }
        if (link.responderResources() == 0) {
            throw new RdmaException("ibv_post_send", "large messages need parameters with responderResources of at"
                    + " least 1, and initiatorDepth of the peer: one of " + connection + " is 0");
        }
    }

    /** Checks whether a message can be announced. May be called without the lock. */
    void check(MemoryRegion region, long offset, long length) throws RdmaException {
        operations.requireOwn(region);
        Objects.checkFromIndexSize(offset, length, region.length());
        check(length);
        if (!region.access().contains(AccessFlag.REMOTE_READ)) {
            throw new IllegalArgumentException("the peer reads a message of " + length + " bytes, for which " + region
                    + " needs REMOTE_READ");
        }
    }

    /** Checks that a program may send an immediate value with a message. May be called without the lock. */
    void requireOther(int immediate) {
        if (immediate == IMMEDIATE && link.takesLargeMessages()) {
            throw new IllegalArgumentException("the immediate value 0x" + Integer.toHexString(immediate)
                    + " announces large messages on " + connection);
        }
    }

    /** Returns whether the peer has a place for one more. */
    boolean hasRoom() {
        AgreedSizes peer = link.peerSizes();
        return peer != null && outgoing.size() < peer.largeMessages();
    }

    /**
     * Announces a message, when there is room and a send buffer.
     *
     * @param handler to be told when the peer has read it; null if nobody needs to know
     * @param registration closed when the peer cannot read it any more; null if the memory is the program's
     * @return the number of the message
     */
    long announce(MemoryRegion region, long offset, long length, @Nullable OperationHandler handler, long context,
            @Nullable CachedRegistration registration) throws RdmaException {
        RemoteMemory source = region.remoteMemory().slice(offset, length);
        Outgoing next = new Outgoing(handler, context, registration);
        RegisteredSlice slice = ring.takeSlice();
        source.encode(slice.memory().asByteBuffer());
        operations.sendControl(slice, RemoteMemory.BYTES);
        outgoing.add(next);
        if (registration != null) {
            registrations.add(registration);
        }
        pendingHandlers += handler == null ? 0 : 1;
        counters.sent(length);
        return announcedCount++;
    }

    /** Returns whether the peer has read a message. */
    boolean isAnswered(long number) {
        return number < answeredCount;
    }

    /** Returns whether the peer may still read a registration. */
    boolean uses(CachedRegistration registration) {
        return registrations.contains(registration);
    }

    /** Returns how many messages the peer has not read. */
    int unread() {
        return outgoing.size();
    }

    /** Returns whether neither side still owes the other one something for what was sent or delivered. */
    boolean isIdle() {
        return outgoing.isEmpty() && unanswered == 0;
    }

    /** Returns whether handlers will be called. */
    boolean hasHandlers() {
        return pendingHandlers > 0;
    }

    /** Returns whether a handler is to be called. */
    boolean hasReport() {
        return !answered.isEmpty();
    }

    private void answered() throws RdmaException {
        Outgoing read = outgoing.peek();
        if (read == null) {
            throw new RdmaException("ibv_post_recv", "the peer has answered a message that was not announced, on "
                    + connection);
        }
        if (read.handler != null) {
            answered.add(read);
        }
        outgoing.remove();
        answeredCount++;
        if (read.registration != null) {
            registrations.remove(read.registration);
            read.registration.close();
        }
    }

    /** Calls the handler of one message that was read, or never will be; returns false if there is none. */
    boolean callOne(MixedThreadsLock lock) {
        // A close waits for answers until the connection has ended, or no longer than it lingers.
        boolean last = closed || connection.hasEnded();
        if (answered.isEmpty() && !outgoing.isEmpty() && last) {
            // What the peer has answered before the end is in the queue.
            connection.takeLast();
        }
        RdmaException failure = null;
        Outgoing next = answered.poll();
        if (next == null && !outgoing.isEmpty() && last) {
            failure = connection.endReason(Connection.SEND);
            next = outgoing.remove();
        }
        if (next == null) {
            return false;
        }
        if (next.handler != null) {
            pendingHandlers--;
            int holds = lock.release();
            try {
                next.handler.completed(connection, next.context, failure);
            } finally {
                lock.retake(holds);
            }
        }
        return true;
    }

    // The receiver.

    /** Returns whether a completion is that of an announcement or an answer. */
    boolean areTold(WorkCompletions completion) {
        return completion.hasImmediate() && completion.immediate() == IMMEDIATE && link.takesLargeMessages()
                && completion.opcode() == WorkCompletionOpcode.RECV;
    }

    /** Takes an announcement or an answer. */
    void told(ReceiveBuffer buffer) {
        try {
            if (buffer.length() == 0) {
                answered();
            } else {
                announced(RemoteMemory.decode(buffer.data().asByteBuffer()));
            }
        } catch (RdmaException | IllegalArgumentException e) {
            connection.failReceive(Reasons.of("ibv_post_recv", e));
        } finally {
            connection.giveBackQuietly(buffer);
        }
    }

    private void announced(RemoteMemory source) throws RdmaException {
        if (source.length() < 1 || source.length() > size || incoming.size() + unanswered >= most) {
            throw new RdmaException("ibv_post_recv", "the peer has announced " + source.length() + " bytes behind "
                    + incoming.size() + " messages, where " + most + " of " + size + " bytes are agreed, on "
                    + connection);
        }
        incoming.add(new Incoming(source));
    }

    /** Takes a message that has arrived, which waits for those that were announced before it. */
    void arrived(ReceiveBuffer buffer) {
        if (incoming.isEmpty()) {
            arrived.add(buffer);
        } else {
            incoming.getLast().behind.add(buffer);
        }
    }

    /** Goes on with whatever there is room for now. */
    void progress() {
        if (incoming.isEmpty() && unanswered == 0) {
            return;
        }
        while (!incoming.isEmpty() && incoming.element().read == incoming.element().source.length()) {
            deliver(incoming.remove());
        }
        // During a close as well: it waits until what was read is answered, and the peer's close until all is read.
        if (connection.hasEnded()) {
            return;
        }
        try {
            while (unanswered > 0 && ring.free() > 0) {
                operations.sendControl(null, 0);
                unanswered--;
            }
            for (Incoming next : incoming) {
                if (!read(next)) {
                    return;
                }
            }
        } catch (RdmaException e) {
            connection.failReceive(e);
        }
    }

    private void deliver(Incoming message) {
        int length = (int) message.source.length();
        ReceiveBuffer buffer = new ReceiveBuffer(this, Objects.requireNonNull(message.buffer));
        buffer.arrived(length, false, false, 0);
        counters.received(length);
        arrived.add(buffer);
        arrived.addAll(message.behind);
        unanswered++;
        if (connection.calls().hasHandler()) {
            connection.calls().ready();
        }
        loop.wake(connection.member());
    }

    /** Reads as much of a message as there is room for. Returns whether the next one can be read as well. */
    private boolean read(Incoming message) throws RdmaException {
        if (message.buffer == null) {
            message.buffer = buffer();
        }
        long length = message.source.length();
        while (message.buffer != null && message.requested < length && pieces < MOST_PIECES && ring.free() > 0) {
            int piece = (int) Math.min(PIECE, length - message.requested);
            operations.start(SendOpcode.RDMA_READ, message.buffer.region(),
                    message.buffer.offset() + message.requested, piece, message.source, message.requested, 0, message,
                    piece, false);
            pieces++;
            message.requested += piece;
        }
        return message.requested == length;
    }

    /** Returns a buffer for a message; null if there is none yet. */
    private @Nullable RegisteredSlice buffer() {
        RegisteredSlice buffer = free.poll();
        if (buffer == null && buffers.size() < most && !taking) {
            // Others must not wait until so much memory is registered.
            Workers.execute(this::takeBuffer);
            taking = true;
        }
        return buffer;
    }

    private void takeBuffer() {
        RegisteredSlice buffer = null;
        Throwable failure = null;
        try {
            buffer = device.pool(size).take();
        } catch (RdmaException | RuntimeException | Error e) {
            failure = e;
        }
        try (var _ = loop.lock.hold()) {
            taking = false;
            bufferTaken.signalAll();
            if (buffer != null) {
                buffers.add(buffer);
                free.push(buffer);
                progress();
            } else if (failure != null) {
                connection.failReceive(Connection.reasonOf(failure));
            }
        }
    }

    @Override
    public void giveBack(ReceiveBuffer buffer) {
        if (closed) {
            device.reclaim(buffer.slice());
        } else {
            free.push(buffer.slice());
            progress();
        }
    }

    /** Returns what a thread has waited for in vain that waits for a message; null if none was announced. */
    @Nullable String missing() {
        Incoming next = incoming.peek();
        return next == null ? null : "a message of " + next.source.length() + " bytes was announced and not read"
                + (next.buffer == null ? ", because " + buffers.size() + " of " + most
                + " large messages were not closed," : "");
    }

    /** Frees the buffers, after the queue pair was destroyed. A message that is not closed keeps its own. */
    void close() {
        if (closed) {
            return;
        }
        while (taking) {
            bufferTaken.awaitUninterruptibly();
        }
        for (Incoming lost : incoming) {
            if (lost.buffer != null) {
                free.push(lost.buffer);
            }
            lost.behind.forEach(connection::giveBackQuietly);
        }
        incoming.clear();
        for (RegisteredSlice buffer : buffers) {
            if (free.contains(buffer)) {
                buffer.close();
            } else {
                device.lend(buffer);
            }
        }
        registrations.forEach(CachedRegistration::close);
        registrations.clear();
        closed = true;
    }
}
