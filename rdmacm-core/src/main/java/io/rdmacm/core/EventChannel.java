// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.bindings.rdma_event_channel;
import io.rdmacm.verbs.NativeObject;
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
import io.rdmacm.verbs.internal.wait.EventSource.Delivery;
import io.rdmacm.verbs.internal.wait.EventSource.Guard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the events of connection-manager ids ({@code struct rdma_event_channel}, rdma_create_event_channel(3)).
 *
 * <p>There are two ways to take events. {@link #getEvent} and {@link #pollEvent(Duration)} take the next event of any
 * id, as an event loop does. {@link #await} takes the next event of one id, and turns every event that makes the
 * expected one impossible into an exception. Any number of threads may use both at the same time.
 *
 * <p>Every wait ends when the channel is closed or the thread is interrupted. {@link #wakeup()} ends the waits of
 * {@link #pollEvent(Duration)} only. A virtual thread that waits does not keep its carrier.
 *
 * <p>Close the ids and the events of a channel before the channel.
 */
public final class EventChannel extends NativeObject {
    private static final Logger LOG = LoggerFactory.getLogger(EventChannel.class);
    private static final NativeFunction CREATE = NativeFunction.of("rdma_create_event_channel");
    private static final NativeFunction DESTROY = NativeFunction.of("rdma_destroy_event_channel");
    private static final NativeFunction GET_CM_EVENT = NativeFunction.of("rdma_get_cm_event");

    private static final AtomicLong COUNT = new AtomicLong();

    // The order in which two channels are locked.
    private final long order = COUNT.getAndIncrement();
    private final EventSource<RawEvent> events;
    // rdma_get_cm_event writes the address of the event here; used with the lock held.
    private final MemorySegment result = NativeMemory.allocate("rdma_create_event_channel", Long.BYTES, Long.BYTES);
    // By the address of the struct rdma_cm_id; guarded by the lock. The references are strong, because a program may
    // rely on getting its ids back from the events and keep none itself.
    private final Map<Long, CmId> ids = new HashMap<>();
    // The address of an event that librdmacm has handed out and read() has not: there was no memory. Otherwise 0.
    private long unread;

    private EventChannel(Lifetime life, long address) throws RdmaException {
        super(life, address, rdma_event_channel.sizeof());
        int file = Memory.getInt(address + rdma_event_channel.fd$offset());
        this.events = new EventSource<>(file, this::read);
        life.describe(() -> "fd " + file);
    }

    /**
     * Creates a channel ({@code rdma_create_event_channel}).
     *
     * @return the channel, to be closed after its ids
     * @throws io.rdmacm.verbs.error.NativeLibraryException when librdmacm or libibverbs is not installed
     * @throws RdmaException ENODEV when this machine has no RDMA device, EMFILE when the limit of open files is reached
     */
    @CFunction("rdma_create_event_channel")
    public static EventChannel open() throws RdmaException {
        return Lifetime.make(EventChannel.class, List.of(), arena -> Check.pointer(CREATE, CREATE.callLong()),
                DESTROY::callInt, EventChannel::new);
    }

    /**
     * Returns the file descriptor, for use in other event loops: it is readable when the kernel has an event. Events
     * that were read while {@link #await} looked for another one are kept here and do not make it readable: take them
     * with {@link #pollEvent()}.
     *
     * @return the file descriptor, which is non-blocking and belongs to this channel; do not close it
     */
    public int fd() {
        return intMember(rdma_event_channel.fd$offset());
    }

    /**
     * Waits for the next event of any id ({@code rdma_get_cm_event}). {@link #wakeup()} does not end this wait.
     *
     * @param timeout how long to wait; zero to return at once
     * @return the event, to be closed by the caller
     * @throws RdmaTimeoutException when there was no event in time
     * @throws RdmaClosedException when another thread closed the channel
     * @throws RdmaException when librdmacm cannot read the event
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("rdma_get_cm_event")
    public CmEvent getEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            CmEvent event = events.next(raw -> true, () -> ensureOpenFor(null, life()), Deadline.after(timeout),
                    this::deliver);
            if (event == null) {
                throw new RdmaTimeoutException("rdma_get_cm_event", "no connection-manager event within " + timeout);
            }
            return event;
        } finally {
            life().leaveAfterWait();
        }
    }

    /**
     * Takes the next event of any id if there is one, without waiting ({@code rdma_get_cm_event}).
     *
     * @return the event, to be closed by the caller; empty when there is none
     * @throws RdmaException when librdmacm cannot read the event
     */
    @CFunction("rdma_get_cm_event")
    public Optional<CmEvent> pollEvent() throws RdmaException {
        life().enter();
        try (var _ = events.lock().hold()) {
            return Optional.ofNullable(events.poll(raw -> true, this::deliver));
        } finally {
            life().leave();
        }
    }

    /**
     * Waits for the next event of any id, until the timeout has passed or {@link #wakeup()} is called
     * ({@code rdma_get_cm_event}). This is the call for an event loop that other threads hand work to. When there is
     * both a wakeup and an event, the event is returned and the wakeup is consumed.
     *
     * @param timeout how long to wait; zero to return at once
     * @return the event, to be closed by the caller; empty when the timeout has passed or wakeup() was called
     * @throws RdmaClosedException when another thread closed the channel
     * @throws RdmaException when librdmacm cannot read the event
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("rdma_get_cm_event")
    public Optional<CmEvent> pollEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            return Optional.ofNullable(events.nextOrWakeup(raw -> true, () -> ensureOpenFor(null, life()),
                    Deadline.after(timeout), this::deliver));
        } finally {
            life().leaveAfterWait();
        }
    }

    /**
     * Makes {@link #pollEvent(Duration)} return at once, like {@link java.nio.channels.Selector#wakeup()}: ends all
     * such waits that are in progress, or the next one if there are none. Several calls before that next one count as
     * one. {@link #getEvent} and {@link #await} are not affected.
     */
    public void wakeup() {
        life().ensureOpen();
        events.wakeup();
    }

    /**
     * Waits for an event of one id ({@code rdma_get_cm_event}). Other events that are read meanwhile are kept for later
     * calls. {@link #wakeup()} does not end this wait.
     *
     * @param id an id of this channel; for CONNECT_REQUEST the listening one
     * @param expected the type of event to wait for
     * @param timeout how long to wait; zero to return at once
     * @return the event, to be closed by the caller
     * @throws RejectedException when the peer rejected the connection; it has the reason and the private data
     * @throws UnreachableException when the address or route could not be resolved, or the peer did not answer
     * @throws DisconnectedException when the connection ended, or the peer gave up during the handshake
     * @throws DeviceRemovedException when the device was removed
     * @throws RdmaTimeoutException when none of that happened in time
     * @throws RdmaClosedException when another thread closed the channel or the id
     * @throws RdmaException when the operation failed with CONNECT_ERROR or MULTICAST_ERROR, or the event cannot be
     *         read
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("rdma_get_cm_event")
    public CmEvent await(CmId id, CmEventType expected, Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            return await(id, expected, timeout, life());
        } finally {
            life().leave();
        }
    }

    /** Like the public method, for a thread inside the owner of the id: the wait also ends when that is closed. */
    CmEvent await(CmId id, CmEventType expected, Duration timeout, Lifetime owner)
            throws RdmaException, InterruptedException {
        life().ensureOpen();
        Objects.requireNonNull(expected, "expected");
        requireOwn(id);
        CmEvent event = next(id, expected, timeout, owner, null);
        if (event == null) {
            throw new RdmaTimeoutException("rdma_get_cm_event", waitedFor(expected, id) + ": nothing happened within "
                    + timeout);
        }
        if (event.type() != expected) {
            try (event) {
                throw event.failure(waitedFor(expected, id));
            }
        }
        return event;
    }

    /**
     * Waits until the peer has answered a disconnect, whichever thread takes the event of that.
     *
     * @throws RdmaTimeoutException when it has not in time
     */
    void awaitDisconnected(CmId id, Duration timeout, Lifetime owner) throws RdmaException, InterruptedException {
        if (isAnswered(id)) {
            return;
        }
        try (CmEvent event = next(id, CmEventType.DISCONNECTED, timeout, owner, () -> isAnswered(id))) {
            if (event != null) {
                // Others wait for the state that has changed.
                wake();
                if (event.type() != CmEventType.DISCONNECTED) {
                    throw event.failure("disconnecting " + id);
                }
            } else if (!isAnswered(id)) {
                throw new RdmaTimeoutException("rdma_disconnect", id + ": the peer did not answer within " + timeout);
            }
        }
    }

    private static String waitedFor(CmEventType expected, CmId id) {
        return "waiting for " + expected + " of " + id;
    }

    private static boolean isAnswered(CmId id) {
        return id.state() != CmIdState.DISCONNECTING;
    }

    /**
     * Returns the next event of an id that ends a wait for the expected one, null when there was none in time or the
     * wait has ended without one.
     */
    private @Nullable CmEvent next(CmId id, CmEventType expected, Duration timeout, Lifetime owner,
            @Nullable BooleanSupplier ended) throws RdmaException, InterruptedException {
        Predicate<RawEvent> wanted = raw -> raw.owner() == id && (raw.type() == expected || raw.type().endsWaits());
        Guard guard = () -> ensureOpenFor(id, owner);
        Delivery<RawEvent, CmEvent> delivery = raw -> deliver(raw, owner);
        CmEvent event = null;
        Deadline deadline = Deadline.after(timeout);
        life().enterToWait();
        try {
            owner.rest();
            try {
                event = ended == null ? events.next(wanted, guard, deadline, delivery)
                        : events.awaitNext(wanted, guard, ended, deadline, delivery);
                return event;
            } finally {
                if (event == null) {
                    owner.resume();
                }
            }
        } finally {
            life().leaveAfterWait();
        }
    }

    /** Reads all events that the kernel has, which updates the states of their ids; keeps them for later calls. */
    void readAll() throws RdmaException {
        lock().lock();
        try {
            events.readAll();
        } finally {
            lock().unlock();
        }
    }

    /** Held around every native call on the ids of this channel, and while an event is read. */
    ReentrantLock lock() {
        return events.lock();
    }

    /** With the lock held. */
    void register(CmId id, long address) {
        ids.put(address, id);
    }

    /** With the lock held. */
    void forget(long address) {
        ids.remove(address);
    }

    /** Forgets an id and drops its events that nobody has taken. With the lock held. */
    void unregister(CmId id, long address) throws RdmaException {
        dropPending(raw -> raw.owner() == id);
        ids.remove(address);
    }

    /** Acknowledges events that were read but that nobody has taken. With the lock held. */
    void dropPending(Predicate<RawEvent> which) throws RdmaException {
        if (unread != 0 || events.hasUnkept()) {
            // C waits for this one as well.
            events.readBeforeDestroy();
        }
        List<RawEvent> removed = events.removePending(which);
        int dropped = 0;
        try {
            while (dropped < removed.size()) {
                drop(removed.get(dropped++));
            }
        } finally {
            if (dropped < removed.size()) {
                addPending(removed.subList(dropped, removed.size()));
            }
        }
    }

    /** Reads all events that the kernel has, and removes and returns those of an id. With the lock held. */
    List<RawEvent> takePending(CmId id) throws RdmaException {
        events.readAll();
        return events.removePending(raw -> raw.owner() == id);
    }

    void addPending(List<RawEvent> raws) {
        events.addPending(raws);
    }

    /** Returns whether this channel is locked before the other when both are needed. */
    boolean isBefore(EventChannel other) {
        return order < other.order;
    }

    long nativeAddress() {
        return address();
    }

    Lifetime lifetime() {
        return life();
    }

    void wake() {
        events.wake();
    }

    /** Rejects a connect request that the program ignored, and destroys its id. */
    void refuse(CmId unwanted) throws RdmaException {
        try {
            unwanted.reject();
        } catch (RdmaException e) {
            // usually because the peer has given up
            LOG.debug("an unclaimed connect request could not be rejected", e);
        } finally {
            unwanted.close();
        }
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    /** @hidden */
    @Override
    @CFunction("rdma_destroy_event_channel")
    protected void destroy() throws RdmaException {
        events.close(super::destroy);
    }

    private void ensureOpenFor(@Nullable CmId id, Lifetime owner) throws RdmaClosedException {
        // An endpoint closes its channel with itself.
        if (!owner.isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + owner);
        }
        if (!life().isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + life());
        }
        if (id != null && !id.isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + id);
        }
        if (id != null && id.channelUnchecked() != this) {
            throw new IllegalStateException(id + " was moved to another channel during the wait for its events");
        }
    }

    private void requireOwn(CmId id) {
        if (id.channel() != this) {
            throw new IllegalArgumentException(id + " is on another channel: " + id.channel());
        }
    }

    /** Reads one event; returns null when there is none. With the lock held. */
    private @Nullable RawEvent read() throws RdmaException {
        if (unread == 0) {
            if (GET_CM_EVENT.callInt(address(), result.address()) != 0) {
                int errno = Errno.last();
                if (errno == Rdma.EAGAIN()) {
                    return null;
                }
                throw Failures.of(GET_CM_EVENT.name(), errno);
            }
            unread = Memory.getLong(result.address());
        }
        long address = unread;
        int value = Memory.getInt(address + rdma_cm_event.event$offset());
        CmEventType type = CmEventType.of(value);
        if (type == null) {
            // From a newer librdmacm. It must be acknowledged, or its id could never be destroyed.
            LOG.warn("ignored an event of the unknown type {}", value);
            unread = 0;
            CmEvent.acknowledge(address);
            return read();
        }
        long owner = Memory.getLong(address + (type == CmEventType.CONNECT_REQUEST
                ? rdma_cm_event.listen_id$offset()
                : rdma_cm_event.id$offset()));
        RawEvent event = new RawEvent(address, ids.get(owner), type, null);
        if (event.owner() != null && type != CmEventType.CONNECT_REQUEST) {
            event.owner().happened(type);
        }
        unread = 0;
        return event;
    }

    /** Creates the event for the program; returns null when its id is closed or being closed. With the lock held. */
    private @Nullable CmEvent deliver(RawEvent raw) throws RdmaException {
        CmId owner = raw.owner();
        if (owner != null) {
            MulticastMembership membership = owner.memberships().of(raw);
            List<Lifetime> parents = membership == null
                    ? List.of(life(), owner.lifetime())
                    : List.of(life(), owner.lifetime(), membership.lifetime());
            try {
                // If there is no memory for the event, it is delivered later.
                return Lifetime.make(CmEvent.class, parents, (life, none) -> raw.type() == CmEventType.CONNECT_REQUEST
                        ? CmId.requested(this, raw, id -> new CmEvent(this, life, raw, id))
                        : new CmEvent(this, life, raw, owner));
            } catch (IllegalStateException e) {
                LOG.debug("dropped an event of what is being closed", e);
            }
        }
        drop(raw);
        return null;
    }

    /** Creates the event for a thread inside an owner, which is not closed as long as the thread has the event. */
    private @Nullable CmEvent deliver(RawEvent raw, Lifetime owner) throws RdmaException {
        CmEvent event = deliver(raw);
        if (event != null) {
            owner.resume();
        }
        return event;
    }

    private void drop(RawEvent raw) throws RdmaException {
        try {
            if (raw.type() == CmEventType.CONNECT_REQUEST) {
                CmId.destroyUnseen(raw.id());
            }
        } finally {
            CmEvent.acknowledge(raw);
        }
    }
}
