// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;

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
import io.rdmacm.verbs.internal.ffi.NativeMemory;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventSource;
import org.jspecify.annotations.Nullable;

/**
 * A completion event channel ({@code struct ibv_comp_channel}, ibv_create_comp_channel(3)). It delivers an event when
 * one of its completion queues has received a completion, once after each {@link CompletionQueue#requestNotification}.
 * Events are acknowledged automatically when they are taken.
 *
 * <p>Any number of threads may wait, each for events of any queue or of a particular one. {@link #close()} and
 * {@link Thread#interrupt()} wake them. A virtual thread that waits does not keep its carrier.
 */
public final class CompletionChannel extends NativeObject {
    private static final NativeFunction CREATE = NativeFunction.of("ibv_create_comp_channel");
    private static final NativeFunction DESTROY = NativeFunction.of("ibv_destroy_comp_channel");
    private static final NativeFunction GET_CQ_EVENT = NativeFunction.of("ibv_get_cq_event");
    private static final NativeFunction ACK_CQ_EVENTS = NativeFunction.of("ibv_ack_cq_events");

    private final VerbsContext context;
    private final EventSource<CompletionQueue> events;
    // C writes the queue and its context here. Used with the lock of the events held.
    private final MemorySegment results = NativeMemory.allocate("ibv_create_comp_channel", 2 * Long.BYTES, Long.BYTES);
    // guarded by the lock of the events
    private final Map<Long, CompletionQueue> queues = new HashMap<>();
    // The address of a queue whose event C has handed out and read() has not: there was no memory. Otherwise 0.
    private long unread;

    private CompletionChannel(VerbsContext context, Lifetime life, long address) throws RdmaException {
        super(life, address, ibv_comp_channel.sizeof());
        this.context = context;
        this.events = new EventSource<>(Memory.getInt(address + ibv_comp_channel.fd$offset()), this::read);
        int file = fd();
        life.describe(() -> "fd " + file);
    }

    static CompletionChannel create(VerbsContext context) throws RdmaException {
        return Lifetime.make(CompletionChannel.class, List.of(context.life()),
                arena -> Check.pointer(CREATE, CREATE.callLong(context.address())), DESTROY::free,
                (life, address) -> new CompletionChannel(context, life, address));
    }

    /** {@return the context of the device that this channel belongs to} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * {@return the file descriptor, for use in other event loops: it is readable when an event is pending; it is
     * non-blocking and belongs to this channel, so do not close it}
     */
    public int fd() {
        return intMember(ibv_comp_channel.fd$offset());
    }

    /**
     * Waits for the next event of any queue ({@code ibv_get_cq_event} and {@code ibv_ack_cq_events},
     * ibv_get_cq_event(3)).
     *
     * @param timeout the maximum time to wait; zero only checks for an event
     * @return the queue that has, or had, completions; arm it again, then poll it until it is empty
     * @throws RdmaTimeoutException if there was no event in time
     * @throws RdmaClosedException if another thread closed this channel
     * @throws RdmaException if the channel cannot be read
     * @throws InterruptedException if this thread was interrupted; no event is lost
     */
    @CFunction({"ibv_get_cq_event", "ibv_ack_cq_events"})
    public CompletionQueue getEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            CompletionQueue queue = events.next(q -> true, () -> ensureOpenFor(null), Deadline.after(timeout), q -> q);
            if (queue == null) {
                throw new RdmaTimeoutException("ibv_get_cq_event", "no completion event within " + timeout);
            }
            return queue;
        } finally {
            life().leaveAfterWait();
        }
    }

    /**
     * Takes the next event of any queue, without waiting ({@code ibv_get_cq_event} and {@code ibv_ack_cq_events},
     * ibv_get_cq_event(3)).
     *
     * @return the queue that has, or had, completions; empty if there is no event
     * @throws RdmaException if the channel cannot be read
     */
    @CFunction({"ibv_get_cq_event", "ibv_ack_cq_events"})
    public Optional<CompletionQueue> pollEvent() throws RdmaException {
        return Optional.ofNullable(takeEvent());
    }

    /** Like {@link #pollEvent()}, but returns null if there is no event. Allocates nothing. */
    @Nullable CompletionQueue takeEvent() throws RdmaException {
        life().enter();
        events.lock().lock();
        try {
            return events.poll(queue -> true, queue -> queue);
        } finally {
            events.lock().unlock();
            life().leave();
        }
    }

    /**
     * Waits for the next event of any queue, until the timeout has passed or {@link #wakeup()} is called
     * ({@code ibv_get_cq_event} and {@code ibv_ack_cq_events}, ibv_get_cq_event(3)). This is the call for an event loop
     * that other threads hand work to. When there is both a wakeup and an event, the event is returned and the wakeup
     * is consumed.
     *
     * @param timeout the maximum time to wait; zero only checks for an event
     * @return the queue that has, or had, completions; empty if the timeout has passed or wakeup() was called
     * @throws RdmaClosedException if another thread closed this channel
     * @throws RdmaException if the channel cannot be read
     * @throws InterruptedException if this thread was interrupted; no event is lost
     */
    @CFunction({"ibv_get_cq_event", "ibv_ack_cq_events"})
    public Optional<CompletionQueue> pollEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            return Optional.ofNullable(events.nextOrWakeup(queue -> true, () -> ensureOpenFor(null),
                    Deadline.after(timeout), queue -> queue));
        } finally {
            life().leaveAfterWait();
        }
    }

    /**
     * Makes {@link #pollEvent(Duration)} return at once, like {@link java.nio.channels.Selector#wakeup()}: ends all
     * such waits that are in progress, or the next one if there are none. Several calls before that next one count as
     * one. {@link #getEvent} and {@link CompletionQueue#await} are not affected.
     */
    public void wakeup() {
        life().ensureOpen();
        events.wakeup();
    }

    /**
     * Waits for an event of one queue, which was found empty after it had been armed. Events of other queues are kept
     * for the threads that wait for them.
     *
     * @param ended whether the wait is to end without an event; looked at after each {@link #wake}
     */
    void awaitEvent(CompletionQueue queue, BooleanSupplier ended, Deadline deadline)
            throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            // an event is unlikely to be there yet, so do not look for one first
            CompletionQueue ignored = events.awaitNext(q -> q == queue, () -> ensureOpenFor(queue), ended, deadline,
                    q -> q);
        } finally {
            life().leaveAfterWait();
        }
    }

    void add(CompletionQueue queue, long address) {
        try (var _ = events.lock().hold()) {
            queues.put(address, queue);
        }
    }

    /** Undoes {@link #add}. */
    void remove(long address) {
        events.lock().lock();
        try {
            queues.remove(address);
        } finally {
            events.lock().unlock();
        }
    }

    /** Destroys a queue of this channel while none of its events can be in transit. */
    void destroy(CompletionQueue queue, long address, Lifetime.Destroyer destroyer) throws RdmaException {
        try (var _ = events.lock().hold()) {
            // An event that was read after the queue is destroyed would name a queue that no longer exists.
            events.readBeforeDestroy();
            destroyer.destroy();
            queues.remove(address);
            events.removePending(event -> event == queue);
        }
    }

    void wake() {
        events.wake();
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    /** @hidden */
    @Override
    @CFunction("ibv_destroy_comp_channel")
    protected void destroy() throws RdmaException {
        events.close(super::destroy);
    }

    private void ensureOpenFor(@Nullable CompletionQueue queue) throws RdmaClosedException {
        if (!life().isOpen()) {
            throw new RdmaClosedException("ibv_get_cq_event", "the " + life());
        }
        if (queue != null && !queue.isOpen()) {
            throw new RdmaClosedException("ibv_get_cq_event", "the " + queue.life());
        }
    }

    private @Nullable CompletionQueue read() throws RdmaException {
        if (unread == 0) {
            long queue = results.address();
            if (GET_CQ_EVENT.callInt(address(), queue, queue + Long.BYTES) != 0) {
                int errno = Errno.last();
                if (errno == Rdma.EAGAIN()) {
                    return null;
                }
                throw Failures.of(GET_CQ_EVENT.name(), errno);
            }
            unread = Memory.getLong(queue);
        }
        CompletionQueue queue = Objects.requireNonNull(queues.get(unread), "an event of an unknown completion queue");
        ACK_CQ_EVENTS.callInt(unread, 1);
        unread = 0;
        return queue;
    }
}
