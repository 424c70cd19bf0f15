// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The heart of a stream: takes completions and messages, gives credits, and knows what the stream can do and how it
 * ends. The reader and the writer copy data without the lock.
 */
final class StreamCore {
    private static final String FUNCTION = "rsocket";
    private static final int NONE = -1;

    /** Guards everything that is not marked otherwise. Never held during a sleep. */
    final ReentrantLock lock = new ReentrantLock();
    private final Condition left = lock.newCondition();
    private final StreamSettings settings;
    private final StreamLink link;
    private final StreamWaits waits;
    private final StreamWaits.Arming arming = this::armQueue;
    // null until the stream is connected; then they never change
    @SuppressWarnings("NullAway.Init")
    private volatile StreamQueues queues;
    @SuppressWarnings("NullAway.Init")
    private volatile ReceiveWindow receiving;
    @SuppressWarnings("NullAway.Init")
    private volatile SendWindow sending;
    @SuppressWarnings("NullAway.Init")
    private volatile SendLedger ledger;
    @SuppressWarnings("NullAway.Init")
    private volatile StreamMaps maps;
    private volatile boolean unpublished;
    @SuppressWarnings("NullAway.Init")
    private ConnectData peer;
    // the files of the queues are being watched
    private boolean watching;
    // the entries of the target lists that are next: of the peer's, to be written; of our own, to be taken
    private int nextTarget = 1;
    private int nextOffer = 1;
    private int controlsFree = StreamQueues.CONTROLS;
    // the queue will raise an event, which has not been taken
    private boolean armed;
    // the link knows something that was not taken over yet
    private boolean linkChanged;
    // the file of the queue may be readable
    private boolean suspicious = true;
    // null until it is asked for
    private @Nullable EventFile file;
    // the thread that has armed the file and not been told of anything since; null if there is none
    private @Nullable Thread armer;
    // Whether a reader, a writer or the keep-alive has taken something that the event loop has not been told of.
    private boolean news;
    // a message of StreamMessage that is to be sent as soon as there is a request for it
    private int pendingControl = NONE;
    // Read without the lock by the reader and the writer, which at worst act a moment too late.
    private volatile boolean inputEnded;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private volatile boolean peerClosed;
    private volatile boolean disconnected;
    private volatile @Nullable RdmaException failure;
    private volatile boolean closing;
    // the threads in await
    private int waiting;
    private boolean disconnectSent;
    private boolean disconnectDelivered;

    StreamCore(StreamSettings settings, StreamLink link) throws RdmaException {
        this.settings = settings;
        this.link = link;
        this.waits = new StreamWaits(lock, settings.waiting());
        waits.watch();
        link.onChange(this::linkChanged);
        lock.lock();
        try {
            followLink();
        } finally {
            lock.unlock();
        }
    }

    /** Something to wait for. */
    @FunctionalInterface
    interface Goal {
        /** Returns whether it is reached. Called with the lock held. */
        boolean isReached(StreamCore core);
    }

    StreamQueues queues() {
        return queues;
    }

    ReceiveWindow receiving() {
        return receiving;
    }

    SendWindow sending() {
        return sending;
    }

    SendLedger ledger() {
        return ledger;
    }

    StreamMaps maps() {
        return maps;
    }

    /** Returns whether there are mappings that the peer was not told of. May be called without the lock. */
    boolean hasUnpublished() {
        return unpublished;
    }

    /** Maps memory for the peer, who is still to be told. Takes the lock. */
    StreamMapping map(MemorySegment memory, long offset) throws RdmaException {
        lock.lock();
        try {
            requireOutput();
            StreamMapping mapping = maps.add(this, memory, offset);
            unpublished = true;
            return mapping;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the index of the mapping of the peer that contains an offset, -1 if there is none. Takes the lock. */
    int findMapping(long offset) {
        lock.lock();
        try {
            return maps.find(offset);
        } finally {
            lock.unlock();
        }
    }

    /** Takes memory away from the peer. Takes the lock. */
    void unmap(StreamMapping mapping) throws RdmaException {
        lock.lock();
        try {
            maps.remove(mapping);
            unpublished = maps.nextUnpublished() != null;
        } finally {
            lock.unlock();
        }
    }

    /** Takes note that the peer has been told of a mapping. Called with the lock held. */
    void published() {
        maps.published();
        unpublished = maps.nextUnpublished() != null;
    }

    ConnectData peer() {
        return peer;
    }

    boolean isConnected() {
        return queues != null;
    }

    boolean isClosing() {
        return closing;
    }

    /** Checks that the stream was not closed. */
    void requireOpen() throws RdmaClosedException {
        if (closing) {
            throw new RdmaClosedException(FUNCTION, toString());
        }
    }

    /** Checks that the stream is connected and was not closed. */
    void requireConnected() throws RdmaException {
        requireOpen();
        if (queues == null) {
            throw new IllegalStateException(this + " is not connected");
        }
    }

    void bind(InetSocketAddress local) throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            link.bind(local);
        } finally {
            lock.unlock();
        }
    }

    void startConnect(InetSocketAddress to) throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            link.start(to);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the stream is connected; throws an exception if it never will be. */
    boolean finishConnect() throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            if (!link.isStarted()) {
                throw new IllegalStateException("startConnect was not called");
            }
            resetFile();
            progress();
            if (!isConnected() && failure != null) {
                throw failure;
            }
            return isConnected();
        } finally {
            lock.unlock();
        }
    }

    /** Takes what has arrived and finished, without waiting. Returns whether there was anything. */
    boolean progress() {
        boolean any = false;
        if (queues != null) {
            any = pollQueue();
            if (armed && (any || suspicious)) {
                takeQueueEvents();
            }
        }
        suspicious = false;
        if (linkChanged) {
            linkChanged = false;
            followLink();
            any = true;
        }
        if (any) {
            changed();
        }
        return any;
    }

    private boolean pollQueue() {
        StreamQueues polled = queues;
        boolean any = false;
        try {
            do {
                WorkCompletions completions = polled.poll();
                while (completions.next()) {
                    any = true;
                    take(completions);
                }
            } while (polled.wasFull());
            giveCredits();
            sendPendingControl();
        } catch (StreamProtocolException e) {
            fail(e);
            link.disconnectQuietly();
            return true;
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
            return true;
        }
        return any;
    }

    private void take(WorkCompletions completion) throws RdmaException {
        long id = completion.workRequestId();
        if (!completion.succeeded()) {
            if ((id & StreamQueues.RECEIVE) == 0) {
                completeFailed(id, completion);
            }
        } else if ((id & StreamQueues.RECEIVE) != 0) {
            if (failure != null) {
                return;
            }
            if (!completion.hasImmediate()) {
                throw new StreamProtocolException("it sent a message without an immediate value");
            }
            queues.receiveUsed();
            takeMessage(completion.immediate());
        } else if ((id & StreamQueues.CONTROL) != 0) {
            controlsFree++;
            if ((int) id == StreamMessage.of(StreamMessage.CONTROL, StreamMessage.DISCONNECT)) {
                disconnectDelivered = true;
            }
        } else {
            ledger.complete(id);
        }
    }

    private void completeFailed(long id, WorkCompletions completion) {
        if ((id & StreamQueues.CONTROL) != 0) {
            controlsFree++;
        } else {
            ledger.complete(id);
        }
        // After a disconnect, what was in flight is flushed: how the stream has ended is known.
        boolean flushed = completion.status() == WorkCompletionStatus.WR_FLUSH_ERR;
        if (!disconnected && !peerClosed && !(flushed && failure != null)) {
            fail(new WorkCompletionException(completion.copy()));
        }
    }

    private void takeMessage(int message) throws RdmaException {
        int value = StreamMessage.value(message);
        switch (StreamMessage.kind(message)) {
            case StreamMessage.DATA -> {
                requireOpenInput();
                receiving.arrived(value);
                if (inputShut) {
                    receiving.consume(receiving.available());
                }
            }
            case StreamMessage.CREDIT -> {
                sending.credit(value);
                if (queues.takeTarget(nextOffer, sending)) {
                    nextOffer = (nextOffer + 1) % SendWindow.TARGETS;
                }
            }
            case StreamMessage.MAPPED -> {
                receiving.countMessage();
                maps.arrived(value);
            }
            case StreamMessage.CONTROL -> takeControl(value);
            default -> throw new StreamProtocolException("it sent the unknown message 0x"
                    + Integer.toHexString(message));
        }
    }

    private void requireOpenInput() throws StreamProtocolException {
        if (inputEnded) {
            throw new StreamProtocolException("it sent data after the end of the stream");
        }
    }

    private void takeControl(int value) throws StreamProtocolException {
        switch (value) {
            case StreamMessage.DISCONNECT -> {
                inputEnded = true;
                peerClosed = true;
            }
            case StreamMessage.SHUTDOWN -> inputEnded = true;
            case StreamMessage.KEEP_ALIVE -> {
                return;
            }
            default -> throw new StreamProtocolException("it sent the unknown control message " + value);
        }
    }

    private void takeQueueEvents() {
        try {
            // It was armed once, so there is one event at most.
            armed = !queues.takeEvent();
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        }
    }

    /** Called by the thread of the link, which leaves the queues to the threads of the program. Takes the lock. */
    private void linkChanged() {
        lock.lock();
        try {
            linkChanged = true;
            changed();
        } finally {
            lock.unlock();
        }
    }

    /** Takes over what the link has learnt. */
    private void followLink() {
        if (link.queues() != null && !watching) {
            watching = true;
            waits.watch(link.queues().completionFile());
            if (file != null) {
                watchQueue();
            }
        }
        ConnectData answer = link.peer();
        if (answer != null && queues == null) {
            connect(answer);
        }
        if (link.failure() != null) {
            if (link.failure() instanceof StreamProtocolException) {
                link.disconnectQuietly();
            }
            fail(link.failure());
        }
        if (link.isDisconnected() && !disconnected) {
            // What the peer sent before has arrived already.
            if (queues != null && failure == null) {
                pollQueue();
            }
            disconnected = true;
            link.disconnectQuietly();
        }
    }

    @SuppressWarnings("NullAway") // called when the file is open
    private void watchQueue() {
        try {
            file.watch(link.queues().completionFile());
        } catch (RdmaException e) {
            fail(e);
        }
    }

    private void connect(ConnectData answer) {
        StreamQueues made = link.queues();
        peer = answer;
        receiving = made.newReceiveWindow();
        sending = new SendWindow(peer);
        ledger = made.newLedger();
        maps = new StreamMaps(settings.mapSlots(), peer, made);
        queues = made;
        try {
            giveCredits();
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        }
    }

    /** Tells the peer of free parts of the receive buffer and of credits, if it is time to. */
    void giveCredits() throws RdmaException {
        while (controlsFree > 0 && !peerClosed && !disconnected && failure == null) {
            if (receiving.hasFreeHalf()) {
                queues.postReceives();
                int offset = receiving.grantOffset();
                receiving.grantHalf();
                controlsFree--;
                queues.postTarget(peer, nextTarget, offset, receiving.half(),
                        StreamMessage.of(StreamMessage.CREDIT, receiving.grantCredits()));
                nextTarget = (nextTarget + 1) % peer.targetCount();
            } else if (receiving.owesCredits()) {
                queues.postReceives();
                controlsFree--;
                queues.postControl(StreamMessage.of(StreamMessage.CREDIT, receiving.grantCredits()));
            } else {
                return;
            }
        }
    }

    /** Gives credits after the reader has freed memory. Takes the lock. */
    void freed() {
        lock.lock();
        try {
            giveCredits();
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        } finally {
            lock.unlock();
        }
    }

    private void sendPendingControl() throws RdmaException {
        if (pendingControl == NONE || controlsFree == 0) {
            return;
        }
        int message = pendingControl;
        pendingControl = NONE;
        if (failure == null && !disconnected && !peerClosed) {
            controlsFree--;
            disconnectSent |= message == StreamMessage.DISCONNECT;
            queues.postControl(StreamMessage.of(StreamMessage.CONTROL, message));
        }
    }

    /** Sends a message about the end of the stream, as soon as possible. */
    private void sendControl(int message) {
        // A disconnect says more than a shutdown.
        pendingControl = pendingControl == StreamMessage.DISCONNECT ? pendingControl : message;
        try {
            sendPendingControl();
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        }
    }

    void shutdownInput() throws RdmaException {
        lock.lock();
        try {
            requireConnected();
            if (!inputShut) {
                inputShut = true;
                receiving.consume(receiving.available());
                if (outputShut && !disconnectSent) {
                    sendControl(StreamMessage.DISCONNECT);
                }
                progress();
                changed();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the output; nothing is being written meanwhile. */
    void shutdownOutput() throws RdmaException {
        lock.lock();
        try {
            requireConnected();
            if (!outputShut) {
                outputShut = true;
                sendControl(inputShut || inputEnded ? StreamMessage.DISCONNECT : StreamMessage.SHUTDOWN);
                changed();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Writes nothing to the peer, so that it is noticed when the peer cannot be reached. Takes the lock. */
    void keepAlive() {
        lock.lock();
        try {
            if (closing || queues == null) {
                return;
            }
            progress();
            if (controlsFree > 0 && failure == null && !disconnected && !peerClosed) {
                controlsFree--;
                queues.postKeepAlive();
            }
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        } finally {
            lock.unlock();
        }
    }

    private void fail(Exception reason) {
        if (failure == null) {
            if (reason instanceof RdmaException cause) {
                failure = cause;
            } else {
                RdmaException unexpected = new RdmaException(FUNCTION,
                        Objects.requireNonNullElse(reason.getMessage(), reason.toString()));
                unexpected.initCause(reason);
                failure = unexpected;
            }
        }
        changed();
    }

    /** Takes note of a failure. Takes the lock. */
    void failed(Exception reason) {
        lock.lock();
        try {
            fail(reason);
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("NullAway") // a thread arms the file only when it is open
    private void changed() {
        news = true;
        waits.wake();
        if (armer != null) {
            file.wake();
        }
    }

    /** Returns whether a read would find the end of the stream or throw an exception when there are no data. */
    boolean hasInputEnded() {
        return inputEnded || inputShut || failure != null || disconnected;
    }

    /**
     * Returns what a read without data returns.
     *
     * @return 0 if data may arrive, -1 at the end of the stream
     */
    int emptyRead() throws RdmaException {
        if (inputEnded || inputShut) {
            return -1;
        }
        requireAlive();
        return 0;
    }

    /** Checks that data can be written, now or later. */
    void requireOutput() throws RdmaException {
        requireConnected();
        if (outputShut) {
            throw new IllegalStateException("the output of " + this + " has been shut down");
        }
        requireAlive();
        if (peerClosed) {
            throw new DisconnectedException("writing to " + this);
        }
    }

    private void requireAlive() throws RdmaException {
        RdmaException reason = failure;
        if (reason != null) {
            throw reason;
        }
        if (disconnected) {
            throw new DisconnectedException(toString());
        }
    }

    private boolean hasOutputEnded() {
        return outputShut || failure != null || disconnected || peerClosed;
    }

    /** Returns what is possible now. */
    int readiness() {
        if (closing) {
            return RdmaStream.READABLE | RdmaStream.WRITABLE | RdmaStream.CONNECTED | RdmaStream.ENDED;
        }
        int ready = failure != null || disconnected || peerClosed || outputShut && (inputShut || inputEnded)
                ? RdmaStream.ENDED : 0;
        if (queues == null) {
            return failure != null ? ready | RdmaStream.CONNECTED : ready;
        }
        ready |= RdmaStream.CONNECTED;
        if (receiving.available() > 0 || hasInputEnded()) {
            ready |= RdmaStream.READABLE;
        }
        if (hasOutputEnded() || canSend()) {
            ready |= RdmaStream.WRITABLE;
        }
        return ready;
    }

    /** Returns whether data can be written now. */
    boolean canSend() {
        return sending.hasCredit() && sending.hasRoom() && ledger.hasRequest() && hasSendBuffer();
    }

    /** Returns whether there is enough room in the send buffer to make a message worth its while. */
    boolean hasSendBuffer() {
        return ledger.free() >= StreamWriter.LOW_WATER;
    }

    /** Takes what has arrived and finished, and returns what is possible now. Takes the lock. */
    int poll() {
        lock.lock();
        try {
            if (!closing) {
                resetFile();
                progress();
                news = false;
            }
            return readiness();
        } finally {
            lock.unlock();
        }
    }

    /** Takes what has arrived and finished, for a reader or a writer. Takes the lock. */
    void look() {
        lock.lock();
        try {
            if (!closing) {
                if (armer == Thread.currentThread()) {
                    resetFile();
                }
                progress();
            }
        } finally {
            lock.unlock();
        }
    }

    int fd() throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            if (file == null) {
                EventFile made = EventFile.open();
                if (link.queues() != null) {
                    made.watch(link.queues().completionFile());
                }
                file = made;
            }
            return file.fd();
        } finally {
            lock.unlock();
        }
    }

    /** Prepares the file for a sleep; returns false if something has happened. */
    boolean armFile() throws RdmaException {
        lock.lock();
        try {
            fd();
            resetFile();
            boolean quiet = armQueue() && !news;
            news = false;
            armer = quiet ? Thread.currentThread() : null;
            return quiet;
        } finally {
            lock.unlock();
        }
    }

    /** Makes the file unreadable. Called for the event loop only: other threads must not take its wakeups. */
    @SuppressWarnings("NullAway") // a thread arms the file only when it is open
    private void resetFile() {
        if (armer == null) {
            return;
        }
        armer = null;
        suspicious = true;
        try {
            file.reset();
        } catch (RdmaException e) {
            fail(e);
        }
    }

    /** Makes the queue raise an event; returns false if there is something to do already. */
    private boolean armQueue() throws RdmaException {
        if (queues == null) {
            return !progress();
        }
        if (armed) {
            // The event of a completion that was polled may have come late.
            takeQueueEvents();
        }
        if (!armed && failure == null) {
            queues.arm();
            armed = true;
        }
        return !progress();
    }

    /**
     * Waits for a goal. Called without the lock.
     *
     * @param goal what to wait for
     * @param deadline when to give up
     * @param whileClosing whether the wait goes on when the stream is closed
     * @return whether the goal was reached
     */
    boolean await(Goal goal, Deadline deadline, boolean whileClosing) throws RdmaException, InterruptedException {
        lock.lock();
        waiting++;
        try {
            long spinNanos = waits.spinNanos();
            int spins = 0;
            while (true) {
                if (!whileClosing) {
                    requireOpen();
                }
                progress();
                if (goal.isReached(this)) {
                    return true;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (deadline.hasPassed()) {
                    return false;
                }
                if (spinNanos > 0 && deadline.elapsedNanos() < spinNanos) {
                    waits.pause(++spins);
                } else {
                    suspicious |= waits.sleep(deadline, arming);
                }
            }
        } finally {
            waiting--;
            left.signalAll();
            waits.promote();
            lock.unlock();
        }
    }

    /** Begins to close: nothing can be read or written any more. Returns false if this has been done before. */
    boolean beginClose() {
        lock.lock();
        try {
            if (closing) {
                return false;
            }
            closing = true;
            if (queues == null) {
                link.stop();
            }
            changed();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Tells the peer that the stream is closed. No reader and no writer is left. */
    void sayGoodbye() {
        lock.lock();
        try {
            outputShut = true;
            inputShut = true;
            if (queues != null) {
                progress();
                if (failure == null && !disconnected && !peerClosed && !disconnectSent) {
                    receiving.consume(receiving.available());
                    sendControl(StreamMessage.DISCONNECT);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether there is nothing left to be delivered. */
    boolean isDelivered() {
        return queues == null || failure != null || disconnected || peerClosed || disconnectDelivered;
    }

    /** Ends the connection and frees everything. No thread is using the stream any more. */
    void free() throws RdmaException {
        lock.lock();
        try {
            while (waiting > 0) {
                changed();
                left.awaitUninterruptibly();
            }
            link.disconnectQuietly();
            if (ledger != null) {
                queues.closePair();
                ledger.abandon();
                maps.close();
            }
        } finally {
            lock.unlock();
        }
        // Without the lock, which the thread of the link may need before it can close the id.
        link.close();
        lock.lock();
        try {
            waits.close();
            if (file != null) {
                file.close();
                file = null;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "RdmaStream[" + link + "]";
    }
}
