// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.pool.CachedRegistration;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;

/** Stands in for the class of this name: a loop, and messages that are longer than the receives of the peer. */
public final class Connection implements ReceiveBuffer.Owner {
    static final int NUMBER = 1;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int COMPLETIONS = 64;

    final SendRing ring;
    final DeviceResources device;
    private final ConnectionSettings settings;
    private final Loop loop;
    private final CompletionQueue queue;
    private final Completions member = new Completions();
    private final HandlerCalls calls = new HandlerCalls();
    private final Operations operations = new Operations(this);
    private final ArrayDeque<ReceiveBuffer> arrived = new ArrayDeque<>();
    private final LargeMessages large;
    private @Nullable Connection peer;
    // guarded by the lock of the loop
    private @Nullable RdmaException failure;
    private boolean closing;
    private boolean over;
    // by the one thread that does so
    private boolean closed;

    private Connection(ConnectionSettings settings) throws RdmaException {
        this.settings = settings;
        this.loop = new Loop(new VerbsContext(), COMPLETIONS, true);
        this.queue = loop.reserve(COMPLETIONS, COMPLETIONS);
        this.ring = new SendRing(settings.sendBuffers());
        this.device = new DeviceResources(settings.largeMessageSize());
        this.large = new LargeMessages(this, new MessageLink(new AgreedSizes(settings.messageSize(),
                settings.largeMessageSize(), settings.largeMessages())), device, new ConnectionQueues(loop, ring),
                operations, new ConnectionCounters.Recorder(), arrived);
        loop.add(NUMBER, member);
    }

    /** Connects two of them. */
    static Connection connect(ConnectionSettings settings) throws RdmaException {
        MemoryRegion.forgetAll();
        Connection one = new Connection(settings);
        Connection other = new Connection(settings);
        one.peer = other;
        other.peer = one;
        return one;
    }

    Connection peer() {
        return peer;
    }

    /** What the device does. */
    void arrive(WorkCompletions.Completion completion) {
        queue.complete(completion);
    }

    /** What the loop calls. */
    final class Completions extends Loop.Member {
        @Override
        protected void completed(WorkCompletions completion) {
            Connection.this.completed(completion);
        }

        @Override
        protected void callHandlers() {
        }

        @Override
        protected void failed(Throwable reason) {
            failReceive(reasonOf(reason));
        }
    }

    private void completed(WorkCompletions completions) {
        byte[] data = completions.completion().received();
        if (data == null) {
            completions.completion().completed().run();
        } else {
            RegisteredSlice slice = new RegisteredSlice(data.length, null);
            slice.memory().copyFrom(MemorySegment.ofArray(data));
            ReceiveBuffer buffer = new ReceiveBuffer(this, slice);
            buffer.arrived(data.length, false, completions.hasImmediate(), 0);
            if (large.areTold(completions)) {
                large.told(buffer);
            } else {
                large.arrived(buffer);
            }
        }
        large.progress();
    }

    @Override
    public void giveBack(ReceiveBuffer buffer) {
        buffer.slice().close();
    }

    // What the messages ask for.

    ConnectionSettings settings() {
        return settings;
    }

    HandlerCalls calls() {
        return calls;
    }

    Completions member() {
        return member;
    }

    boolean hasEnded() {
        return over || failure != null;
    }

    RdmaException endReason() {
        return failure != null ? failure : new RdmaClosedException("test", "the connection");
    }

    void takeLast() {
        try {
            boolean ignored = loop.takeAll();
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    void failReceive(RdmaException reason) {
        failure = failure == null ? reason : failure;
        loop.wake(member);
    }

    void giveBackQuietly(ReceiveBuffer buffer) {
        try {
            buffer.owner().giveBack(buffer);
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    static RdmaException reasonOf(Throwable thrown) {
        return Reasons.of("test", thrown);
    }

    // What a program does.

    private void await(Wait.Goal<Completions> goal, long argument) throws RdmaException, InterruptedException {
        long start = System.nanoTime();
        boolean reached = loop.await(member, goal, argument, HOUR, 0);
        if (!reached || System.nanoTime() - start > HOUR.toNanos() / 2) {
            throw new AssertionError("waited in vain: " + large.missing());
        }
    }

    private void requireUsable() throws RdmaException {
        if (closing || hasEnded()) {
            throw endReason();
        }
    }

    /** Sends a message that fits into a receive of the peer. */
    void send(int value) throws RdmaException, InterruptedException {
        loop.lock.lockInterruptibly();
        try {
            await((mine, none) -> hasRoom(false), 0);
            operations.send(new byte[] {(byte) value}, null);
        } finally {
            loop.lock.unlock();
        }
    }

    /** Sends a message that the peer reads, and waits until it has been read. */
    void sendLarge(int value) throws RdmaException, InterruptedException {
        int length = settings.largeMessageSize();
        MemoryRegion region = new MemoryRegion(length);
        region.memory().fill((byte) value);
        CachedRegistration registration = new CachedRegistration(region);
        loop.lock.lockInterruptibly();
        try {
            await((mine, none) -> hasRoom(true), 0);
            long sent = large.announce(region, 0, length, null, 0, registration);
            loop.wake(member);
            await((mine, number) -> isRead(number), sent);
        } finally {
            loop.lock.unlock();
        }
    }

    /** Waits until a first message was announced. */
    void awaitAnnouncement() throws RdmaException, InterruptedException {
        loop.lock.lockInterruptibly();
        try {
            await((mine, none) -> large.isAnswered(0) || large.unread() > 0, 0);
        } finally {
            loop.lock.unlock();
        }
    }

    private boolean hasRoom(boolean forLarge) throws RdmaException {
        requireUsable();
        return ring.free() > 0 && (!forLarge || large.hasRoom());
    }

    private boolean isRead(long number) throws RdmaException {
        if (!large.isAnswered(number) && (closing || hasEnded())) {
            takeLast();
            if (!large.isAnswered(number)) {
                requireUsable();
            }
        }
        return large.isAnswered(number);
    }

    /** Receives a message, to be closed. */
    Message receive() throws RdmaException, InterruptedException {
        loop.lock.lockInterruptibly();
        try {
            await((mine, none) -> {
                if (arrived.isEmpty()) {
                    requireUsable();
                }
                return !arrived.isEmpty();
            }, 0);
            return new Message(arrived.remove());
        } finally {
            loop.lock.unlock();
        }
    }

    /** A message that has arrived. */
    final class Message implements AutoCloseable {
        private final ReceiveBuffer buffer;

        Message(ReceiveBuffer buffer) {
            this.buffer = buffer;
        }

        /** Returns the value of all its bytes. */
        int value() {
            MemorySegment data = buffer.data();
            byte value = data.get(ValueLayout.JAVA_BYTE, 0);
            for (long i = 0; i < data.byteSize(); i++) {
                if (data.get(ValueLayout.JAVA_BYTE, i) != value) {
                    throw new AssertionError("torn at " + i);
                }
            }
            return value;
        }

        @Override
        public void close() {
            loop.lock.lock();
            try {
                giveBackQuietly(buffer);
            } finally {
                loop.lock.unlock();
            }
        }
    }

    /** The other side has gone. */
    private void end() {
        loop.lock.lock();
        try {
            over = true;
            large.progress();
            loop.wake(member);
        } finally {
            loop.lock.unlock();
        }
    }

    /** Waits until nothing is in flight, ends the connection on both sides, and frees what this side has. */
    void close() throws RdmaException, InterruptedException {
        loop.lock.lock();
        try {
            closing = true;
            loop.wake(member);
            await((mine, none) -> hasEnded() || ring.free() == settings.sendBuffers() && large.isIdle(), 0);
        } finally {
            loop.lock.unlock();
        }
        end();
        peer.end();
        if (closed) {
            return;
        }
        closed = true;
        loop.remove(NUMBER, member);
        loop.lock.lock();
        try {
            large.close();
            arrived.forEach(this::giveBackQuietly);
            arrived.clear();
        } finally {
            loop.lock.unlock();
        }
        loop.close();
    }
}
