// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

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
import io.rdmacm.verbs.internal.wait.Sleeper;
import io.rdmacm.verbs.internal.wait.Wait;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue ({@code struct ibv_cq}, ibv_create_cq(3)), in which the device reports finished work requests.
 *
 * <p>{@link #poll} takes completions out of the queue without waiting, copying or allocating. {@link #await} waits for
 * completions through the queue's channel, in an order that misses none: poll, arm, poll again, wait.
 *
 * <p>All methods may be called by any thread, and {@link #close()} at any time. Polling is optimised for a single
 * thread. When several threads poll the same queue, each call takes a lock.
 */
public sealed class CompletionQueue extends NativeObject permits ExtendedCompletionQueue {
    private static final NativeFunction CREATE_CQ = NativeFunction.of("ibv_create_cq");
    private static final NativeFunction RESIZE_CQ = NativeFunction.of("ibv_resize_cq");
    static final NativeFunction DESTROY_CQ = NativeFunction.of("ibv_destroy_cq");

    private static final long NANOS_BETWEEN_LOOKS = 20_000;
    /** How long a close waits for a cursor; not final for tests. */
    static volatile Duration cursorTimeout = Duration.ofSeconds(10);

    private final VerbsContext context;
    // null if the queue is only polled
    private final @Nullable CompletionChannel channel;
    private final BiasedLock lock = new BiasedLock("CompletionQueue");
    private final DriverCall poll;
    // the batches of EFA that report here, and how many of them are open
    private final Set<SendBatch> batches = ConcurrentHashMap.newKeySet();
    private final AtomicInteger openBatches = new AtomicInteger();
    private final DriverCall requestNotification;
    private final boolean notificationsWaitForPolls;
    private volatile int capacity;
    private final CompletionWait waiting;

    CompletionQueue(VerbsContext context, @Nullable CompletionChannel channel, Lifetime life, long address, long size) {
        super(life, address, size);
        this.context = context;
        this.channel = channel;
        // accesses memory only, with every driver; that of EFA waits for the end of a batch of another thread
        this.poll = ContextOps.POLL_CQ.call(address, !context.isEfa());
        this.requestNotification = ContextOps.REQ_NOTIFY_CQ.call(address, false);
        this.notificationsWaitForPolls = context.quirks().notificationsWaitForPolls();
        this.capacity = readCapacity(address, life);
        this.waiting = new CompletionWait(life, new Arming(), new ChannelSleep(), new ChannelSleep());
    }

    static CompletionQueue create(VerbsContext context, int capacity, @Nullable CompletionChannel channel, int vector)
            throws RdmaException {
        requireCapacity(capacity);
        long channelAddress = channel == null ? 0 : channel.address();
        return Lifetime.make(CompletionQueue.class, parents(context, channel, vector), arena -> {
            try {
                return Check.pointer(CREATE_CQ, capacity + " entries",
                        CREATE_CQ.callLong(context.address(), capacity, 0, channelAddress, vector));
            } catch (RdmaException e) {
                throw DeviceLimits.explain(e, context, capacity);
            }
        }, DESTROY_CQ::free,
                (life, address) -> new CompletionQueue(context, channel, life, address, ibv_cq.sizeof()).publish());
    }

    static void requireCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a completion queue needs at least 1 entry, not " + capacity);
        }
    }

    /** Returns what must stay open as long as the queue. The channel may be null. */
    static List<Lifetime> parents(VerbsContext context, @Nullable CompletionChannel channel, int vector) {
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

    /** Registers the queue, so that events can name it. */
    final CompletionQueue publish() {
        return Lifetime.publish(this, queue -> {
            if (channel != null) {
                channel.add(this, address());
            }
            context.events().add(this);
        }, queue -> {
            context.events().remove(this);
            if (channel != null) {
                channel.remove(address());
            }
        });
    }

    private static int readCapacity(long address, Lifetime life) {
        int entries = Memory.getInt(address + ibv_cq.cqe$offset());
        life.describe(() -> entries + " entries at 0x" + Long.toHexString(address));
        return entries;
    }

    /** {@return the context of the device that this queue belongs to} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return the channel that delivers the events of this queue; empty if it is only polled} */
    public Optional<CompletionChannel> channel() {
        life().ensureOpen();
        return Optional.ofNullable(channel);
    }

    /**
     * {@return the number of completions that this queue can hold, at least as many as requested ({@code ibv_cq.cqe})}
     */
    public int capacity() {
        life().ensureOpen();
        return capacity;
    }

    /**
     * Takes completions out of this queue, without waiting ({@code ibv_poll_cq}, ibv_poll_cq(3)).
     *
     * @param completions the buffer to fill, up to its capacity; its previous contents are overwritten
     * @return the number of completions, 0 if there were none
     * @throws IllegalStateException if a cursor of this queue is open, see {@link ExtendedCompletionQueue}; on EFA,
     *         also if this thread has a {@link SendBatch} open that reports to this queue
     * @throws RdmaException if the queue has overrun or the device has failed; drivers report no errno
     */
    @CFunction("ibv_poll_cq")
    public int poll(WorkCompletions completions) throws RdmaException {
        requireNoBatchOfThisThread();
        Bias bias = lock.enter();
        int taken;
        try {
            requireNoCursor();
            taken = (int) poll.call(address(), completions.capacity(), completions.address(), 0, 0, 0);
        } finally {
            lock.leave(bias);
            Reference.reachabilityFence(completions);
        }
        if (taken < 0) {
            completions.filled(0);
            // a number of the driver's own, not an errno
            throw new RdmaException(ContextOps.POLL_CQ.name(), ContextOps.POLL_CQ.name() + " failed with " + taken
                    + " on " + life() + ": the queue has overrun, or the device failed");
        }
        completions.filled(taken);
        return taken;
    }

    /**
     * Requests one event on the channel for the next completion ({@code ibv_req_notify_cq}, ibv_req_notify_cq(3)).
     * Completions that are already in the queue raise no event, so poll the queue after arming it.
     *
     * @param solicitedOnly true for an event only if the completion is that of a received message sent with the
     *        solicited flag, or an error
     * @throws IllegalStateException if this queue has no channel; on irdma also if this thread has a cursor of the
     *         queue open
     * @throws RdmaException if the driver fails
     */
    @CFunction("ibv_req_notify_cq")
    public void requestNotification(boolean solicitedOnly) throws RdmaException {
        life().enter();
        try {
            requireChannel();
            if (notificationsWaitForPolls) {
                requireNoCursorOfThisThread();
            }
            int result = (int) requestNotification.call(address(), solicitedOnly ? 1 : 0, 0, 0, 0, 0);
            if (result != 0) {
                throw Failures.of(ContextOps.REQ_NOTIFY_CQ.name(), Math.abs(result));
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Takes completions out of this queue, and waits for some if there are none: polls, arms, polls again and waits on
     * the channel.
     *
     * @param completions the buffer to fill, up to its capacity; its previous contents are overwritten
     * @param timeout the maximum time to wait
     * @return the number of completions, at least 1
     * @throws IllegalStateException if this queue has no channel, or a cursor of it is open
     * @throws RdmaTimeoutException if no completion arrived in time
     * @throws RdmaClosedException if another thread closed this queue
     * @throws RdmaException if the queue has overrun or the device has failed
     * @throws InterruptedException if this thread was interrupted; no completion is lost
     */
    public int await(WorkCompletions completions, Duration timeout) throws RdmaException, InterruptedException {
        return await(CompletionQueue::poll, this, completions, timeout);
    }

    /** Takes completions in a given way, and waits if there are none. */
    final <Q, B> int await(CompletionWait.Poll<Q, B> poll, Q queue, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            requireChannel();
            return waiting.take("ibv_get_cq_event", poll, queue, buffer, timeout);
        } catch (IllegalStateException | RdmaClosedException e) {
            if (!isOpen()) {
                throw new RdmaClosedException("ibv_get_cq_event", "the " + life());
            }
            throw e;
        } finally {
            life().leaveAfterWait();
        }
    }

    /** Asks for the events of this queue. Who sleeps takes them from the channel, as do others. */
    private final class Arming implements Wait.Source {
        @Override
        public boolean poll() {
            return false;
        }

        @Override
        public boolean arm() throws RdmaException {
            requestNotification(false);
            return true;
        }

        @Override
        public boolean takeEvents() {
            return true;
        }
    }

    /** Where a thread sleeps until an event of this queue arrives through its channel. */
    private final class ChannelSleep implements Sleeper {
        private volatile boolean woken;

        @Override
        public void await(long nanos) throws RdmaException, InterruptedException {
            try {
                // There is a channel: await() has looked.
                Objects.requireNonNull(channel).awaitEvent(CompletionQueue.this, () -> woken,
                        Deadline.after(nanos));
            } finally {
                woken = false;
            }
        }

        @Override
        public void wake() {
            woken = true;
            Objects.requireNonNull(channel).wake();
        }

        @Override
        public void close() {
            // The files belong to the channel.
        }
    }

    /**
     * Changes the number of completions that this queue can hold ({@code ibv_resize_cq}, ibv_resize_cq(3)). No
     * completion is lost.
     *
     * @param entries the number of completions, at least 1 and at least as many as are in the queue; the device may
     *        round up
     * @throws IllegalArgumentException if the number is less than 1
     * @throws IllegalStateException if a cursor of this queue is open, or its memory is read without libibverbs
     * @throws RdmaException EINVAL if the number exceeds the device's limit, or more completions are in the queue;
     *        ENOMEM if memory is short
     * @throws RdmaUnsupportedException if the device does not support it
     */
    @CFunction("ibv_resize_cq")
    public void resize(int entries) throws RdmaException {
        // Excludes polls: a driver may replace the memory that they read, and call the program to allocate it.
        requireNoBatchOfThisThread();
        Bias bias = lock.enterExclusive();
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
     * Sets the interrupt moderation: the device may combine several completions into one event ({@code ibv_modify_cq},
     * ibv_modify_cq(3)).
     *
     * @param completions the number of completions that raise an event, 16 bits
     * @param period the time after which fewer completions raise an event, in microseconds of 16 bits
     * @throws IllegalArgumentException if a number does not fit into 16 bits
     * @throws RdmaException EINVAL if the device does not support the values
     * @throws RdmaUnsupportedException if the device does not support moderation
     */
    @CFunction("ibv_modify_cq")
    public void modifyModeration(int completions, Duration period) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            Arguments.requireBits("completions per event", completions, Short.SIZE);
            int microseconds = Math.clamp(TimeUnit.MICROSECONDS.convert(period), -1, Integer.MAX_VALUE);
            Arguments.requireBits("moderation period in microseconds", microseconds, Short.SIZE);
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

    /** Refuses polls and resizes from now on, for an object that reads the memory of the queue without libibverbs. */
    final void readDirectly(String reader) {
        lock.close(this + " is read directly by a " + reader);
    }

    /** Returns the lock that keeps a close apart from polls. */
    final BiasedLock lock() {
        return lock;
    }

    /** Remembers the batch of a queue pair of EFA. */
    final void remember(SendBatch batch) {
        batches.add(batch);
    }

    /** Counts the batches that are open. */
    final void countBatches(int more) {
        openBatches.addAndGet(more);
    }

    /** Forgets a batch, which is opened no more. */
    final void forget(SendBatch batch) {
        batches.remove(batch);
    }

    /**
     * Checks that this thread has no batch of EFA open: libefa polls with the lock that the batch has, so the thread
     * would wait for itself.
     */
    final void requireNoBatchOfThisThread() {
        requireNoBatchOfThisThread(null);
    }

    /** Checks the same for all batches but one, which may be null. */
    final void requireNoBatchOfThisThread(@Nullable SendBatch except) {
        if (openBatches.get() > 0) {
            for (SendBatch batch : batches) {
                if (batch != except && batch.isOpenedBy(Thread.currentThread())) {
                    throw new IllegalStateException("this thread has a batch of a queue pair open that reports to the"
                            + " completion queue, which libefa does not allow: complete or close it first");
                }
            }
        }
    }

    /** Checks that no cursor is open, because other polls would have to wait for it. Called with the lock held. */
    void requireNoCursor() {
        // a plain queue has no cursor
    }

    /** Checks that this thread has no cursor open, because it would wait for itself. */
    void requireNoCursorOfThisThread() {
        // a plain queue has no cursor
    }

    /**
     * Runs what makes a driver remove completions from queues, while nobody reads them. It has all of the queues or
     * none: who waited for one with another locked would wait for ever if the thread that reads the one polls the
     * other.
     *
     * @throws IllegalStateException if a cursor stays open, or the thread that opened it has ended
     */
    static void removeCompletions(Lifetime.Destroyer remover, @Nullable CompletionQueue... from)
            throws RdmaException {
        // always in the same order, for two threads may do this to the same queues
        List<CompletionQueue> queues = Stream.of(from).filter(Objects::nonNull).distinct()
                .sorted(Comparator.comparingLong(NativeObject::address)).toList();
        Deadline deadline = Deadline.after(cursorTimeout);
        boolean interrupted = false;
        try {
            while (!tryEnterAll(queues, deadline)) {
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(NANOS_BETWEEN_LOOKS);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        try {
            remover.destroy();
        } finally {
            queues.forEach(CompletionQueue::leaveBetweenPolls);
        }
    }

    private static boolean tryEnterAll(List<CompletionQueue> queues, Deadline deadline) {
        int entered = 0;
        try {
            while (entered < queues.size() && queues.get(entered).tryEnterBetweenPolls(deadline)) {
                entered++;
            }
        } finally {
            if (entered < queues.size()) {
                queues.subList(0, entered).forEach(CompletionQueue::leaveBetweenPolls);
            }
        }
        return entered == queues.size();
    }

    /**
     * Enters the lock, if C has none and nobody reads completions. A plain queue is locked by C for each poll, and for
     * the removal of completions.
     *
     * @throws IllegalStateException if a cursor has been open for too long
     */
    boolean tryEnterBetweenPolls(Deadline deadline) {
        return true;
    }

    /** Leaves, after {@link #tryEnterBetweenPolls} has returned true. */
    void leaveBetweenPolls() {
        // a plain queue was not locked
    }

    /** Ends a poll that is in progress. Called with the lock closed. */
    void endPoll() {
        // a plain queue has no cursor
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        if (channel != null) {
            channel.wake();
        }
    }

    /** @hidden */
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
        context.events().destroy(this, super::destroy);
    }

    private void requireChannel() {
        if (channel == null) {
            throw new IllegalStateException("this completion queue was created without a completion channel:"
                    + " it has no events and can only be polled");
        }
    }
}
