// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq;
import io.rdmacm.bindings.ibv_moderate_cq;
import io.rdmacm.bindings.ibv_modify_cq_attr;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.CompletionWait;
import io.rdmacm.verbs.internal.wait.Deadline;

/**
 * A completion queue ({@code struct ibv_cq}, ibv_create_cq(3)): here finished work requests are reported.
 *
 * <p>{@link #poll} takes completions without waiting, copying or allocating. {@link #await} waits for them through the
 * queue's channel, in the order that loses none: poll, arm, poll again, wait.
 *
 * <p>All methods may be called from any thread, and {@link #close()} at any time. Polling is made for one thread: when
 * several poll the same queue, each call takes a lock.
 */
public sealed class CompletionQueue extends NativeObject permits ExtendedCompletionQueue {
    private static final NativeFunction CREATE_CQ = NativeFunction.of("ibv_create_cq");
    private static final NativeFunction RESIZE_CQ = NativeFunction.of("ibv_resize_cq");
    private static final NativeFunction DESTROY_CQ = NativeFunction.of("ibv_destroy_cq");

    private final VerbsContext context;
    // null when it is only polled
    private final CompletionChannel channel;
    private final BiasedLock lock = new BiasedLock("CompletionQueue");
    private final DriverCall poll;
    private final DriverCall requestNotification;
    private volatile int capacity;
    private final CompletionWait waiting;

    CompletionQueue(VerbsContext context, CompletionChannel channel, Lifetime life, long address, long size) {
        super(life, address, size);
        this.context = context;
        this.channel = channel;
        // memory only, with every driver
        this.poll = ContextOps.POLL_CQ.call(address, true);
        this.requestNotification = ContextOps.REQ_NOTIFY_CQ.call(address, context.postsInUserSpace());
        this.capacity = readCapacity(address, life);
        this.waiting = new CompletionWait(life, new ReentrantLock(), new ChannelEvents());
    }

    static CompletionQueue create(VerbsContext context, int capacity, CompletionChannel channel, int vector)
            throws RdmaException {
        requireCapacity(capacity);
        Lifetime life = Lifetime.begin(CompletionQueue.class, parents(context, channel, vector));
        long channelAddress = channel == null ? 0 : channel.address();
        long address = life.create(() -> {
            try {
                return Check.pointer(CREATE_CQ,
                        CREATE_CQ.callLong(context.address(), capacity, 0, channelAddress, vector),
                        capacity + " entries");
            } catch (RdmaException e) {
                throw DeviceLimits.explain(e, context, capacity);
            }
        });
        CompletionQueue queue = new CompletionQueue(context, channel, life, address, ibv_cq.sizeof());
        queue.register();
        return queue;
    }

    static void requireCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a completion queue needs at least 1 entry, not " + capacity);
        }
    }

    /** What must stay open as long as a queue; the channel may be null. */
    static List<Lifetime> parents(VerbsContext context, CompletionChannel channel, int vector) {
        if (channel == null) {
            return List.of(context.life());
        }
        if (channel.context() != context) {
            throw new IllegalArgumentException("the completion channel belongs to another context: "
                    + channel.context());
        }
        if (vector < 0 || vector >= context.completionVectors()) {
            throw new IllegalArgumentException("completion vector " + vector + " of a device that has "
                    + context.completionVectors());
        }
        return List.of(context.life(), channel.life());
    }

    /** From now on events can name it. */
    final void register() {
        if (channel != null) {
            channel.add(this, address());
        }
        context.events().add(this);
    }

    private static int readCapacity(long address, Lifetime life) {
        int entries = Memory.getInt(address + ibv_cq.cqe$offset());
        life.describe(() -> entries + " entries at 0x" + Long.toHexString(address));
        return entries;
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** The channel that its events come through; empty when it is only polled. */
    public Optional<CompletionChannel> channel() {
        life().ensureOpen();
        return Optional.ofNullable(channel);
    }

    /** How many completions it holds: at least as many as were asked for ({@code ibv_cq.cqe}). */
    public int capacity() {
        life().ensureOpen();
        return capacity;
    }

    /**
     * Takes finished work from the queue, without waiting ({@code ibv_poll_cq}).
     *
     * @param completions where it goes, as many as fit; what was there before is overwritten
     * @return how many were taken, 0 when there were none
     * @throws RdmaException when the queue has overrun or the device failed
     */
    @CFunction("ibv_poll_cq")
    public int poll(WorkCompletions completions) throws RdmaException {
        Bias bias = lock.enter();
        int taken;
        try {
            requireNoCursor();
            taken = poll.call(address(), completions.capacity(), completions.address());
        } finally {
            lock.leave(bias);
            Reference.reachabilityFence(completions);
        }
        if (taken < 0) {
            completions.filled(0);
            // a number of the driver's own, not an error number
            throw new RdmaException(ContextOps.POLL_CQ.name(), ContextOps.POLL_CQ.name() + " failed with " + taken
                    + " on " + life() + ": the queue has overrun, or the device failed");
        }
        completions.filled(taken);
        return taken;
    }

    /**
     * Asks for one event on the channel when the next completion comes ({@code ibv_req_notify_cq}). Completions that
     * are in the queue already raise none, so the queue is to be polled after it was armed.
     *
     * @param solicitedOnly only for messages sent with the solicited flag, and for errors
     * @throws IllegalStateException when the queue has no channel
     */
    @CFunction("ibv_req_notify_cq")
    public void requestNotification(boolean solicitedOnly) throws RdmaException {
        life().enter();
        try {
            requireChannel();
            int result = requestNotification.call(address(), solicitedOnly ? 1 : 0, 0);
            if (result != 0) {
                throw Failures.of(ContextOps.REQ_NOTIFY_CQ.name(), Math.abs(result));
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Takes finished work from the queue, and waits for some when there is none: polls, arms, polls again and waits on
     * the channel.
     *
     * @param completions where it goes, as many as fit
     * @param timeout how long at most
     * @return how many were taken, at least 1
     * @throws IllegalStateException when the queue has no channel
     * @throws RdmaTimeoutException when there was none in time
     * @throws RdmaClosedException when the queue was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    public int await(WorkCompletions completions, Duration timeout) throws RdmaException, InterruptedException {
        return await(CompletionQueue::poll, this, completions, timeout);
    }

    /** Takes completions in one of the ways to take them, and waits when there are none. */
    final <Q, B> int await(CompletionWait.Poll<Q, B> poll, Q queue, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            requireChannel();
            return waiting.take("ibv_get_cq_event", poll, queue, buffer, timeout);
        } catch (IllegalStateException e) {
            throw closedMeanwhile(e);
        } finally {
            life().leave();
        }
    }

    /** Events of this queue arrive through its channel. */
    private final class ChannelEvents implements CompletionWait.Source {
        @Override
        public void arm() throws RdmaException {
            requestNotification(false);
        }

        @Override
        public boolean sleep(Deadline deadline) throws RdmaException, InterruptedException {
            return channel.awaitEvent(CompletionQueue.this, deadline);
        }
    }

    /**
     * Changes how many completions it holds ({@code ibv_resize_cq}); none is lost.
     *
     * @param entries at least 1, and at least as many as are in it now; the device may give more
     * @throws RdmaException EINVAL when the device has none so large, or more are in it; ENOMEM
     * @throws RdmaUnsupportedException when the device cannot resize
     */
    @CFunction("ibv_resize_cq")
    public void resize(int entries) throws RdmaException {
        // Polls stay out: a driver may exchange the memory that they read, and ask the program for it.
        Bias bias = lock.enterAlone();
        try {
            requireCapacity(entries);
            requireNoCursor();
            Check.returned(RESIZE_CQ, RESIZE_CQ.callInt(address(), entries));
            capacity = readCapacity(address(), life());
        } catch (RdmaException e) {
            throw DeviceLimits.explain(e, context, entries);
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * Lets the device put several completions into one event ({@code ibv_modify_cq}, interrupt moderation).
     *
     * @param completions after how many an event comes, 16 bits
     * @param microseconds after how long it comes for fewer, 16 bits
     * @throws RdmaUnsupportedException when the device has no moderation
     * @throws RdmaException EINVAL when the device has no such values
     */
    @CFunction("ibv_modify_cq")
    public void modifyModeration(int completions, int microseconds) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            Arguments.requireBits("completions of an event", completions, Short.SIZE);
            Arguments.requireBits("microseconds until an event", microseconds, Short.SIZE);
            long wanted = arena.allocate(ibv_modify_cq_attr.layout()).address();
            Memory.putInt(wanted + ibv_modify_cq_attr.attr_mask$offset(), Rdma.IBV_CQ_ATTR_MODERATE());
            long moderate = wanted + ibv_modify_cq_attr.moderate$offset();
            Memory.putShort(moderate + ibv_moderate_cq.cq_count$offset(), (short) completions);
            Memory.putShort(moderate + ibv_moderate_cq.cq_period$offset(), (short) microseconds);
            NativeFunction modify = ExtendedOps.MODIFY_CQ.require(context.address());
            Check.returned(modify, modify.callInt(address(), wanted));
        } finally {
            life().leave();
        }
    }

    /** Keeps a close apart from polls. */
    final BiasedLock lock() {
        return lock;
    }

    /** Refuses what would have to wait for a poll that is under way; with the lock held. */
    void requireNoCursor() {
        // a plain queue is not polled beyond one call
    }

    /** Refuses what would wait for this very thread to end its poll. */
    void requireNoCursorOfThisThread() {
        // a plain queue is not polled beyond one call
    }

    /** Ends a poll that is under way; with the lock closed. */
    void endPoll() {
        // a plain queue is not polled beyond one call
    }

    @Override
    protected void wakeWaiters() {
        if (channel != null) {
            channel.wake();
        }
    }

    @Override
    @CFunction("ibv_destroy_cq")
    protected void destroy() throws RdmaException {
        lock.closeAndDestroy(() -> {
            endPoll();
            if (channel == null) {
                destroyNative();
            } else {
                channel.destroy(this, address(), this::destroyNative);
            }
        });
    }

    private void destroyNative() throws RdmaException {
        context.events().destroy(this, () -> Check.returned(DESTROY_CQ, DESTROY_CQ.callInt(address())));
    }

    private void requireChannel() {
        if (channel == null) {
            throw new IllegalStateException("this completion queue was made without a completion channel:"
                    + " it has no events, and can only be polled");
        }
    }

    private RuntimeException closedMeanwhile(IllegalStateException e) throws RdmaClosedException {
        if (!isOpen()) {
            throw new RdmaClosedException("ibv_get_cq_event", "the " + life());
        }
        return e;
    }
}
