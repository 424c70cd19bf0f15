// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_comp_channel;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventSource;

/**
 * A completion event channel ({@code struct ibv_comp_channel}, ibv_create_comp_channel(3)): tells which of its
 * completion queues got completions. An event comes once after each {@link CompletionQueue#requestNotification}. Events
 * are acknowledged for the caller as they are taken.
 *
 * <p>Any number of threads may wait, each for any queue or for one. They are woken by {@link #close()} and by
 * Thread.interrupt(). Waiting pins the carrier of a virtual thread.
 */
public final class CompletionChannel extends NativeObject {
    private static final NativeFunction CREATE = NativeFunction.of("ibv_create_comp_channel");
    private static final NativeFunction DESTROY = NativeFunction.of("ibv_destroy_comp_channel");
    private static final NativeFunction GET_CQ_EVENT = NativeFunction.of("ibv_get_cq_event");
    private static final NativeFunction ACK_CQ_EVENTS = NativeFunction.of("ibv_ack_cq_events");

    private final VerbsContext context;
    private final EventSource<CompletionQueue> events;
    // Where C writes the queue and its context; used with the lock of the events held.
    private final MemorySegment results = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);
    // guarded by the lock of the events
    private final Map<Long, CompletionQueue> queues = new HashMap<>();

    private CompletionChannel(VerbsContext context, Lifetime life, long address) throws RdmaException {
        super(life, address, ibv_comp_channel.sizeof());
        this.context = context;
        this.events = new EventSource<>(Memory.getInt(address + ibv_comp_channel.fd$offset()), this::read);
        int file = fd();
        life.describe(() -> "fd " + file);
    }

    static CompletionChannel create(VerbsContext context) throws RdmaException {
        Lifetime life = Lifetime.begin(CompletionChannel.class, context.life());
        long address = life.create(() -> Check.pointer(CREATE, CREATE.callLong(context.address())));
        return life.construct(() -> new CompletionChannel(context, life, address), () -> DESTROY.callInt(address));
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * The file descriptor, for event loops of others: readable when an event is there. It is non-blocking and belongs
     * to this channel: not to be closed.
     */
    public int fd() {
        return intMember(ibv_comp_channel.fd$offset());
    }

    /**
     * Waits for the next event of any queue ({@code ibv_get_cq_event} and {@code ibv_ack_cq_events}).
     *
     * @param timeout how long at most; zero only looks
     * @return the queue that has completions, or had: it is to be armed again, then polled until it is empty
     * @throws RdmaTimeoutException when there was no event in time
     * @throws RdmaClosedException when the channel was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction({"ibv_get_cq_event", "ibv_ack_cq_events"})
    public CompletionQueue getEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            CompletionQueue queue = events.next(q -> true, () -> ensureOpenFor(null), Deadline.after(timeout), q -> q);
            if (queue == null) {
                throw new RdmaTimeoutException("ibv_get_cq_event", "no completion event within " + timeout);
            }
            return queue;
        } finally {
            life().leave();
        }
    }

    /**
     * Takes the next event of any queue if one is there, without waiting ({@code ibv_get_cq_event} and
     * {@code ibv_ack_cq_events}).
     *
     * @return the queue that has completions, or had; empty when there is no event
     */
    @CFunction({"ibv_get_cq_event", "ibv_ack_cq_events"})
    public Optional<CompletionQueue> pollEvent() throws RdmaException {
        life().enter();
        events.lock().lock();
        try {
            return Optional.ofNullable(events.poll(queue -> true, queue -> queue));
        } finally {
            events.lock().unlock();
            life().leave();
        }
    }

    /**
     * Waits for an event of one queue, which was found empty after it was armed. Events of other queues are kept for
     * the threads that wait for them.
     *
     * @return false when there was none in time
     */
    boolean awaitEvent(CompletionQueue queue, Deadline deadline) throws RdmaException, InterruptedException {
        life().enter();
        try {
            // an event is hardly there yet, so do not look for one first
            return events.awaitNext(q -> q == queue, () -> ensureOpenFor(queue), deadline, q -> q) != null;
        } finally {
            life().leave();
        }
    }

    void add(CompletionQueue queue, long address) {
        events.lock().lock();
        try {
            queues.put(address, queue);
        } finally {
            events.lock().unlock();
        }
    }

    /** Destroys a queue of this channel while no event of it can be on its way. */
    void destroy(CompletionQueue queue, long address, Lifetime.Destroyer destroyer) throws RdmaException {
        events.lock().lock();
        try {
            // Those of this queue go with it; an event that was read later would name a queue that is gone.
            events.readBeforeDestroy();
            destroyer.destroy();
            queues.remove(address);
            events.removePending(event -> event == queue);
        } finally {
            events.lock().unlock();
        }
    }

    void wake() {
        events.wake();
    }

    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    @Override
    @CFunction("ibv_destroy_comp_channel")
    protected void destroy() throws RdmaException {
        Check.returned(DESTROY, DESTROY.callInt(address()));
        events.close();
    }

    private void ensureOpenFor(CompletionQueue queue) throws RdmaClosedException {
        if (!life().isOpen()) {
            throw new RdmaClosedException("ibv_get_cq_event", "the " + life());
        }
        if (queue != null && !queue.isOpen()) {
            throw new RdmaClosedException("ibv_get_cq_event", "the " + queue.life());
        }
    }

    private CompletionQueue read() throws RdmaException {
        long queue = results.address();
        if (GET_CQ_EVENT.callInt(address(), queue, queue + Long.BYTES) != 0) {
            int errno = Errno.last();
            if (errno == Rdma.EAGAIN()) {
                return null;
            }
            throw Failures.of(GET_CQ_EVENT.name(), errno);
        }
        long address = Memory.getLong(queue);
        ACK_CQ_EVENTS.callInt(address, 1);
        return Objects.requireNonNull(queues.get(address), "an event of a completion queue that was not made here");
    }
}
