// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The heart of a stream: takes completions and messages, gives credits, and knows what the stream can do and how it
 * ends. The reader and the writer copy data without the lock.
 */
final class StreamCore extends Wait.Subject {
    private static final String FUNCTION = "rsocket";
    // How many batches of completions are taken at once: a peer may send more as fast as they are taken.
    private static final int MOST_BATCHES = 16;
    private static final int NONE = -1;

    /** Guards everything that is not marked otherwise. Never held during a sleep. */
    final MixedThreadsLock lock;
    private final StreamSettings settings;
    private final StreamLink link;
    // null if the queue is the stream's own; otherwise who is told of changes, in place of threads that wait
    private final @Nullable StreamLoop shared;
    private final @Nullable Runnable listener;
    private final long spinNanos;
    private final StreamFiles platformFiles = new StreamFiles();
    private final StreamFiles virtualFiles = new StreamFiles();
    private final Wait wait;
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
    private int controlsFree;
    // nothing may be sent before the first message of the peer
    private boolean listensFirst;
    // the link knows something that was not taken over yet
    private volatile boolean linkChanged;
    // messages that arrived before it was known that the stream is connected
    private List<Integer> early = new ArrayList<>(0);
    // counts no more among the streams that share their queues
    private boolean left;
    private volatile int queueFile = NONE;
    // for event loops: null until it is asked for, and whether there is one that needs none
    private @Nullable EventFile file;
    private boolean attached;
    // a message of StreamMessage that is to be sent as soon as there is a request for it
    private int pendingControl = NONE;
    // Read without the lock by the reader and the writer, which at worst act a moment too late.
    private volatile boolean inputEnded;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private volatile boolean peerClosed;
    private volatile boolean disconnected;
    private volatile @Nullable RdmaException failure;
    // An Error has left a step half done, and the next one ends the stream: there may be no stack to call anything now.
    volatile boolean torn;
    private volatile boolean closing;
    // read without the lock by the writer, which then at worst polls once more than it has to
    private int polls;
    // nothing can be used any more
    private boolean freed;
    private boolean disconnectSent;
    private boolean disconnectDelivered;

    /**
     * Creates it.
     *
     * @param shared where completions arrive, null for a queue of the stream's own
     * @param listener told of changes if there is no such queue
     */
    StreamCore(StreamSettings settings, StreamLink link, @Nullable StreamLoop shared, @Nullable Runnable listener)
            throws RdmaException {
        this.settings = settings;
        this.link = link;
        this.shared = shared;
        this.listener = listener;
        this.lock = shared == null ? new MixedThreadsLock() : shared.lock;
        this.wait = new Wait(lock, new Queue(), platformFiles, virtualFiles);
        if (shared != null) {
            link.share(shared, new Member());
        }
        this.spinNanos = TimeUnit.NANOSECONDS.convert(settings.waiting().spin());
        try (var _ = lock.hold()) {
            followLink();
        }
    }

    /** What threads and event loops wait for. */
    private final class Queue implements Wait.Source {
        @Override
        public boolean poll() {
            return progress();
        }

        @Override
        public boolean arm() {
            try {
                if (queues != null) {
                    queues.arm();
                }
            } catch (RdmaException | IllegalStateException e) {
                fail(e);
            }
            return true;
        }

        @Override
        public boolean takeEvents() {
            try {
                return queues == null || queues.takeEvent();
            } catch (RdmaException | IllegalStateException e) {
                fail(e);
                return true;
            }
        }
    }

    /** Takes completions that arrive in a queue which the stream shares. */
    private final class Member extends Loop.Member {
        @Override
        protected void completed(WorkCompletions completion) {
            try {
                take(completion);
            } catch (RdmaException | IllegalStateException e) {
                broken(e);
            }
            changed();
        }

        @Override
        protected void callHandlers() {
            // there are none
        }

        @Override
        protected void failed(Throwable reason) {
            broken(Reasons.of(FUNCTION, reason));
        }

        @Override
        public String toString() {
            return StreamCore.this.toString();
        }
    }

    /** Returns what was sent and received. Takes the lock. */
    StreamCounters counters() {
        try (var _ = lock.hold()) {
            return sending == null ? new StreamCounters(0, 0, 0, 0) : new StreamCounters(sending.messages(),
                    sending.bytesSent(), receiving.messages(), receiving.bytesReceived());
        }
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
        try (var _ = lock.hold()) {
            requireOutput();
            StreamMapping mapping = maps.add(this, memory, offset);
            unpublished = true;
            return mapping;
        }
    }

    /** Returns the index of the mapping of the peer that contains an offset, -1 if there is none. Takes the lock. */
    int findMapping(long offset) {
        try (var _ = lock.hold()) {
            return maps.find(offset);
        }
    }

    /** Takes memory away from the peer. Takes the lock. */
    void unmap(StreamMapping mapping) throws RdmaException {
        try (var _ = lock.hold()) {
            if (!freed) {
                maps.remove(mapping);
                unpublished = maps.nextUnpublished() != null;
                return;
            }
        }
        // It is being closed, or has been.
        mapping.region().close();
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

    /** Returns a number that changes whenever it is looked at what has arrived. May be called without the lock. */
    int polls() {
        return polls;
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
        try (var _ = lock.hold()) {
            requireOpen();
            link.bind(local);
        }
    }

    void startConnect(InetSocketAddress to) throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            link.start(to);
        }
    }

    /** Returns whether the stream is connected; throws an exception if it never will be. */
    boolean finishConnect() throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            if (!link.isStarted()) {
                throw new IllegalStateException("startConnect was not called");
            }
            wait.loopAwake();
            progress();
            if (!isConnected() && failure != null) {
                throw failure;
            }
            return isConnected();
        }
    }

    /** Takes what has arrived and finished, without waiting. Returns whether there was anything. */
    boolean progress() {
        boolean any = torn;
        polls++;
        if (any) {
            torn = false;
            fail(new RdmaException(FUNCTION, "an Error has interrupted a step of " + this));
        }
        try {
            if (queues != null) {
                any |= pollQueue();
            }
            if (linkChanged) {
                linkChanged = false;
                followLink();
                any = true;
            }
        } catch (Error e) {
            torn = true;
            throw e;
        }
        if (any) {
            changed();
        }
        return any;
    }

    private boolean pollQueue() {
        boolean any = false;
        try {
            // A queue that is shared is polled for all streams at once, by others or before.
            any = shared == null && takeCompletions();
            giveCredits();
            sendPendingControl();
        } catch (RdmaException | IllegalStateException e) {
            broken(e);
            return true;
        }
        return any;
    }

    private boolean takeCompletions() throws RdmaException {
        StreamQueues polled = queues;
        boolean any = false;
        int batches = 0;
        do {
            batches++;
            WorkCompletions completions = polled.poll();
            while (completions.next()) {
                any = true;
                take(completions);
            }
        } while (polled.wasFull() && batches < MOST_BATCHES);
        return any;
    }

    /** Takes what has arrived and finished, also from a queue that is shared. */
    private void progressAll() {
        if (shared != null) {
            shared.takeSome();
        }
        progress();
    }

    private void broken(Exception reason) {
        fail(reason);
        if (reason instanceof StreamProtocolException) {
            link.disconnectQuietly();
        }
    }

    private void take(WorkCompletions completion) throws RdmaException {
        long id = completion.workRequestId();
        if (!completion.succeeded()) {
            if (queues != null) {
                completeFailed(id, completion);
            }
            // Otherwise the link knows why the stream will never be connected.
        } else if ((id & StreamQueues.RECEIVE) != 0) {
            if (failure != null) {
                return;
            }
            int message = link.queues().message(completion);
            if (queues == null) {
                // Not known to be connected yet. There are no more than receives.
                early.add(message);
            } else {
                receive(message);
            }
        } else if ((id & StreamQueues.CONTROL) != 0) {
            controlsFree++;
            if ((int) id == StreamMessage.of(StreamMessage.CONTROL, StreamMessage.DISCONNECT)) {
                disconnectDelivered = true;
            }
        } else {
            ledger.complete(id);
        }
    }

    private void receive(int message) throws RdmaException {
        queues.receiveUsed();
        if (listensFirst) {
            listensFirst = false;
            controlsFree = StreamQueues.CONTROLS;
            sending.begin();
        }
        takeMessage(message);
    }

    private void completeFailed(long id, WorkCompletions completion) {
        if ((id & StreamQueues.CONTROL) != 0) {
            controlsFree++;
        } else if ((id & StreamQueues.RECEIVE) == 0) {
            ledger.complete(id);
        }
        boolean flushed = completion.status() == WorkCompletionStatus.WR_FLUSH_ERR;
        if (flushed && queues.isIwarp()) {
            // iWARP flushes when TCP has ended the connection, and tells the link of it a little later.
            link.flushed();
            linkChanged = true;
        }
        // After a disconnect, what was in flight is flushed: the link knows how the stream has ended, or it is known.
        boolean known = failure != null || link.failure() != null || link.isDisconnected();
        if (!disconnected && !peerClosed && !(flushed && known)) {
            fail(new WorkCompletionException(completion.copy(), toString()));
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

    /** The link knows more than before. Takes no lock. */
    void linkChanged() {
        linkChanged = true;
    }

    /** Returns whether nobody has taken over yet what the link knows. */
    boolean isLinkChanged() {
        return linkChanged;
    }

    /** Takes over what the link has learnt. */
    private void followLink() {
        if (shared == null && link.queues() != null && !watching) {
            watching = true;
            watch(link.queues().completionFile());
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
            // What the peer sent before has arrived already. It may go on sending, but only so much was there.
            if (shared != null) {
                shared.takeAll();
            }
            for (int left = queues == null ? 0 : queues.mostCompletions(); left > 0 && failure == null && pollQueue();
                    left -= MOST_BATCHES) {
                // once more
            }
            disconnected = true;
            link.disconnectQuietly();
        }
    }

    /** Sets the file that becomes readable when something arrives. */
    private void watch(int queue) {
        queueFile = queue;
        platformFiles.watch(queue);
        virtualFiles.watch(queue);
        wait.rearm();
        if (file != null) {
            try {
                file.watch(queue);
            } catch (RdmaException e) {
                fail(e);
            }
        }
    }

    private void connect(ConnectData answer) {
        StreamQueues created = link.queues();
        peer = answer;
        receiving = created.newReceiveWindow();
        sending = created.newSendWindow(peer);
        ledger = created.newLedger();
        maps = new StreamMaps(settings.mapSlots(), peer, created);
        queues = created;
        wait.rearm();
        listensFirst = created.listensFirst();
        controlsFree = listensFirst ? 0 : StreamQueues.CONTROLS;
        try {
            for (int message : early) {
                receive(message);
            }
            early = List.of();
            giveCredits();
        } catch (RdmaException | IllegalStateException e) {
            broken(e);
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
        } catch (Error e) {
            torn = true;
            throw e;
        }
    }

    void shutdownInput() throws RdmaException {
        try (var _ = lock.hold()) {
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
        }
    }

    /** Ends the output; nothing is being written meanwhile. */
    void shutdownOutput() throws RdmaException {
        try (var _ = lock.hold()) {
            requireConnected();
            if (!outputShut) {
                outputShut = true;
                sendControl(inputShut || inputEnded ? StreamMessage.DISCONNECT : StreamMessage.SHUTDOWN);
                changed();
            }
        }
    }

    /** Writes nothing to the peer, so that it is noticed when the peer cannot be reached; not if the lock is taken. */
    void keepAlive() {
        if (!lock.tryLock()) {
            return;
        }
        try {
            if (closing || queues == null) {
                return;
            }
            progressAll();
            if (controlsFree > 0 && failure == null && !disconnected && !peerClosed) {
                controlsFree--;
                queues.postKeepAlive();
            }
        } catch (RdmaException | IllegalStateException e) {
            fail(e);
        } catch (Error e) {
            torn = true;
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void fail(Exception reason) {
        if (failure == null) {
            failure = Reasons.of(FUNCTION, reason);
        }
        changed();
    }

    /** Tells those who could not read or write that another thread's turn is over. Takes the lock. */
    void turnEnded() {
        try (var _ = lock.hold()) {
            changed();
        }
    }

    /** Takes note of a failure. Takes the lock. */
    void failed(Exception reason) {
        try (var _ = lock.hold()) {
            fail(reason);
        }
    }

    private void changed() {
        if (listener != null) {
            listener.run();
        }
        wait.wakeAll();
        wait.tellLoop();
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
            throw link.disconnected("writing to " + this, DisconnectedException.Reason.PEER_CLOSED);
        }
    }

    private void requireAlive() throws RdmaException {
        RdmaException reason = failure;
        if (reason != null) {
            throw reason;
        }
        if (disconnected) {
            throw link.disconnected(toString());
        }
    }

    /** Returns whether nothing more is to be read, not even what has arrived. */
    boolean isInputShut() {
        return inputShut;
    }

    boolean isOutputShut() {
        return outputShut;
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
        try (var _ = lock.hold()) {
            if (!closing) {
                loopAwake();
                if (progress()) {
                    loopPolled();
                }
                wait.loopTold();
            }
            return readiness();
        }
    }

    /** Takes what has arrived and finished, for a reader or a writer. Takes the lock. */
    void takeArrived() {
        try (var _ = lock.hold()) {
            if (!closing) {
                // Other threads must not take the wakeups of an event loop.
                if (wait.isLooper()) {
                    loopAwake();
                }
                progressAll();
            }
        }
    }

    /** Returns how many bytes can be read. Takes the lock. */
    int available() throws RdmaException {
        try (var _ = lock.hold()) {
            requireConnected();
            progressAll();
            return receiving.available();
        }
    }

    private void loopAwake() {
        try {
            wait.loopAwake();
        } catch (RdmaException e) {
            fail(e);
        }
    }

    private void loopPolled() {
        try {
            wait.loopPolled();
        } catch (RdmaException e) {
            fail(e);
        }
    }

    /** Has an event loop wait for this stream that watches {@link #queueFile()} itself. Takes the lock. */
    void attach(Runnable wake) {
        try (var _ = lock.hold()) {
            attached = true;
            wait.attach(new Wait.Loop() {
                @Override
                public void wake() {
                    wake.run();
                }

                @Override
                public void reset() {
                    // a wake has no effect that lasts
                }
            });
        }
    }

    /** Returns the file that is readable when something has arrived, -1 before the stream has one. Takes no lock. */
    int queueFile() {
        return queueFile;
    }

    int fd() throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            if (file == null) {
                EventFile created = EventFile.open();
                // Not as soon as the link has queues, which another thread makes: followLink() would watch them again.
                if (watching) {
                    created.watch(link.queues().completionFile());
                }
                file = created;
                wait.attach(created);
            }
            return file.fd();
        }
    }

    /** Prepares the file for a sleep; returns false if something has happened. */
    boolean armFile() throws RdmaException {
        try (var _ = lock.hold()) {
            if (!attached) {
                fd();
            }
            return wait.armLoop();
        }
    }

    /** Returns whether one of several things is possible. Called with the lock held. */
    private boolean isReady(long interest) throws RdmaClosedException {
        requireOpen();
        return (readiness() & interest) != 0;
    }

    /**
     * Waits until one of several things is possible. Takes the lock.
     *
     * @param interest what {@link #readiness()} is to return one of
     * @return false if the deadline has passed
     */
    boolean await(int interest, Deadline deadline) throws RdmaException, InterruptedException {
        lock.lock();
        try {
            return wait.await(this, StreamCore::isReady, interest, deadline, spinNanos);
        } catch (RdmaClosedException e) {
            requireOpen();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** From now on nothing can be read or written. Takes no lock, and nothing that may fail. */
    void beginClose() {
        closing = true;
        if (queues == null) {
            link.stop();
        }
    }

    /** Lets all that wait find out that the stream is closing; returns false if the lock is taken. */
    boolean wakeAll() {
        if (listener != null) {
            listener.run();
            return true;
        }
        if (!lock.tryLock()) {
            return false;
        }
        try {
            changed();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Tells the peer that the stream is closed. No reader or writer is left. Returns false if the lock is taken. */
    boolean sendDisconnect() {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            outputShut = true;
            inputShut = true;
            if (queues != null) {
                progressAll();
                if (failure == null && !disconnected && !peerClosed && !disconnectSent) {
                    receiving.consume(receiving.available());
                    sendControl(StreamMessage.DISCONNECT);
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether there is nothing left to be delivered; false if the lock is taken. */
    boolean isDelivered() {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            if (queues != null) {
                progressAll();
            }
            return queues == null || failure != null || disconnected || peerClosed || disconnectDelivered;
        } finally {
            lock.unlock();
        }
    }

    /** Ends all waits, so that no thread will use the stream any more; returns false if the lock is taken. */
    boolean endWaits() throws RdmaException {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            freed = true;
            wait.close();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the connection and frees everything, without the lock, because that may take a while. Has no effect when it
     * is called again after a failure on what has been freed.
     */
    void free() throws RdmaException {
        link.disconnectQuietly();
        RdmaException problem = null;
        if (ledger != null) {
            problem = free(queues::closePair, problem);
            ledger.abandon();
            problem = free(maps::close, problem);
        }
        problem = free(link::close, problem);
        if (file != null) {
            problem = free(file::close, problem);
            file = null;
        }
        if (shared != null && !left) {
            left = true;
            problem = free(shared::removed, problem);
        }
        if (problem != null) {
            throw problem;
        }
    }

    private static @Nullable RdmaException free(CmLoop.Task part, @Nullable RdmaException former) {
        try {
            part.run();
            return former;
        } catch (RdmaException | IllegalStateException e) {
            RdmaException problem = Reasons.of(FUNCTION, e);
            if (former == null) {
                return problem;
            }
            former.addSuppressed(problem);
            return former;
        }
    }

    @Override
    public String toString() {
        return "RdmaStream[" + link + "]";
    }
}
