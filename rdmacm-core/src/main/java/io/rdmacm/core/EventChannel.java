// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.bindings.rdma_event_channel;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Deadline;
import io.rdmacm.verbs.internal.Errno;
import io.rdmacm.verbs.internal.EventSource;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the events of connection-manager ids arrive ({@code struct rdma_event_channel}, rdma_create_event_channel(3)).
 *
 * <p>Events are taken one after the other with {@link #getEvent}, as an event loop does; or the events of one id are
 * waited for with {@link #await}, which turns every event that ends the hope for the expected one into its exception.
 * Both may be used at once by any number of threads. Waiting threads are woken by {@link #close()} and by
 * Thread.interrupt(). Waiting pins the carrier of a virtual thread.
 *
 * <p>A channel can be closed when its ids are, and all its events.
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
    // Where C writes the event; used with the lock held.
    private final MemorySegment result = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    // By the address of the struct rdma_cm_id; guarded by the lock. Strong: events give ids back to programs that keep
    // no reference of their own.
    private final Map<Long, CmId> ids = new HashMap<>();

    private EventChannel(Lifetime life, long address) throws RdmaException {
        super(life, address, rdma_event_channel.sizeof());
        int file = Memory.getInt(address + rdma_event_channel.fd$offset());
        this.events = new EventSource<>(file, this::read);
        life.describe(() -> "fd " + file);
    }

    /**
     * A new channel ({@code rdma_create_event_channel}).
     *
     * @throws io.rdmacm.verbs.NativeLibraryException when librdmacm or libibverbs is not installed
     * @throws RdmaException ENODEV when this machine has no RDMA device, EMFILE when the limit of open files is reached
     */
    @CFunction("rdma_create_event_channel")
    public static EventChannel open() throws RdmaException {
        Lifetime life = Lifetime.begin(EventChannel.class);
        long address = life.create(() -> Check.pointer(CREATE, CREATE.callLong()));
        boolean made = false;
        try {
            EventChannel channel = new EventChannel(life, address);
            made = true;
            return channel;
        } finally {
            if (!made) {
                DESTROY.callInt(address);
                life.abandon();
            }
        }
    }

    /**
     * The file descriptor, for event loops of others: readable when an event is there. It is non-blocking and belongs
     * to this channel: not to be closed. Events that {@link #await} has set aside do not make it readable.
     */
    public int fd() {
        return intMember(rdma_event_channel.fd$offset());
    }

    /**
     * Waits for the next event of any id ({@code rdma_get_cm_event}).
     *
     * @param timeout how long at most; zero only looks
     * @return the event, to be closed
     * @throws RdmaTimeoutException when there was none in time
     * @throws RdmaClosedException when the channel was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("rdma_get_cm_event")
    public CmEvent getEvent(Duration timeout) throws RdmaException, InterruptedException {
        CmEvent event = next(raw -> true, null, life(), timeout);
        if (event == null) {
            throw new RdmaTimeoutException("rdma_get_cm_event", "no connection-manager event within " + timeout);
        }
        return event;
    }

    /**
     * Takes the next event of any id if one is there, without waiting ({@code rdma_get_cm_event}).
     *
     * @return the event, to be closed; empty when there is none
     */
    @CFunction("rdma_get_cm_event")
    public Optional<CmEvent> pollEvent() throws RdmaException {
        life().enter();
        lock().lock();
        try {
            return Optional.ofNullable(events.poll(raw -> true, this::deliver));
        } finally {
            lock().unlock();
            life().leave();
        }
    }

    /**
     * Waits until something happens to one id ({@code rdma_get_cm_event}). Events of other ids are set aside for those
     * who ask for them.
     *
     * @param id of this channel; for CONNECT_REQUEST the listening one
     * @param expected what is hoped for
     * @param timeout how long at most
     * @return the event, to be closed
     * @throws RejectedException when the peer rejected, with reason and private data
     * @throws UnreachableException when the address or route could not be resolved, or the peer did not answer
     * @throws DisconnectedException when the connection was ended
     * @throws DeviceRemovedException when the device is going away
     * @throws RdmaTimeoutException when none of that happened in time
     * @throws RdmaClosedException when the channel or the id was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("rdma_get_cm_event")
    public CmEvent await(CmId id, CmEventType expected, Duration timeout) throws RdmaException, InterruptedException {
        return await(id, expected, timeout, life());
    }

    /** As the public one; the close of the owner of the id ends it too. */
    CmEvent await(CmId id, CmEventType expected, Duration timeout, Lifetime owner)
            throws RdmaException, InterruptedException {
        life().ensureOpen();
        Objects.requireNonNull(expected, "expected");
        requireOwn(id);
        CmEvent event = next(raw -> raw.owner() == id && (raw.type() == expected || raw.type().endsWaits()), id,
                owner, timeout);
        String waitedFor = "waiting for " + expected + " of " + id;
        if (event == null) {
            throw new RdmaTimeoutException("rdma_get_cm_event", waitedFor + ": nothing happened within " + timeout);
        }
        if (event.type() != expected) {
            try (event) {
                throw event.failure(waitedFor);
            }
        }
        return event;
    }

    /** Reads what the kernel has reported: the states of ids follow it, the events are kept for those who ask. */
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

    /** Forgets an id and drops its events that nobody asked for. With the lock held. */
    void unregister(CmId id, long address) throws RdmaException {
        ids.remove(address);
        dropPending(raw -> raw.owner() == id);
    }

    /** Acknowledges events that were read and nobody asked for. With the lock held. */
    void dropPending(Predicate<RawEvent> which) throws RdmaException {
        for (RawEvent event : events.removePending(which)) {
            drop(event);
        }
    }

    /** Reads what the kernel has reported, and takes out what is there for an id. With the lock held. */
    List<RawEvent> takePending(CmId id) throws RdmaException {
        events.readAll();
        return events.removePending(raw -> raw.owner() == id);
    }

    void addPending(List<RawEvent> raws) {
        events.addPending(raws);
    }

    /** Whether this one is locked first when two are. */
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

    /** Rejects a connection that nobody wanted and destroys its id. */
    void refuse(CmId unwanted) throws RdmaException {
        try {
            unwanted.reject();
        } catch (RdmaException e) {
            // the peer has given up meanwhile
            LOG.debug("an unclaimed connect request could not be rejected", e);
        } finally {
            unwanted.close();
        }
    }

    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    @Override
    @CFunction("rdma_destroy_event_channel")
    protected void destroy() throws RdmaException {
        DESTROY.callInt(address());
        events.close();
    }

    private CmEvent next(Predicate<RawEvent> wanted, CmId only, Lifetime owner, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            return events.next(wanted, () -> ensureOpenFor(only, owner), Deadline.after(timeout), this::deliver);
        } finally {
            life().leave();
        }
    }

    private void ensureOpenFor(CmId id, Lifetime owner) throws RdmaClosedException {
        if (!life().isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + life());
        }
        if (!owner.isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + owner);
        }
        if (id != null && !id.isOpen()) {
            throw new RdmaClosedException("rdma_get_cm_event", "the " + id);
        }
        if (id != null && id.channelUnchecked() != this) {
            throw new IllegalStateException(id + " was moved to another channel while its events were waited for");
        }
    }

    private void requireOwn(CmId id) {
        if (id.channel() != this) {
            throw new IllegalArgumentException(id + " belongs to another channel: " + id.channel());
        }
    }

    /** Reads one event; null when there is none. With the lock held. */
    private RawEvent read() throws RdmaException {
        if (GET_CM_EVENT.callInt(address(), result.address()) != 0) {
            int errno = Errno.last();
            if (errno == Rdma.EAGAIN()) {
                return null;
            }
            throw RdmaException.of(GET_CM_EVENT.name(), errno);
        }
        long address = Memory.getLong(result.address());
        int value = Memory.getInt(address + rdma_cm_event.event$offset());
        CmEventType type = CmEventType.of(value);
        if (type == null) {
            // Of a newer librdmacm. Not acknowledged, it would keep its id from ever being destroyed.
            LOG.warn("an event of the unknown type {} was left out", value);
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
        return event;
    }

    /** Makes the event of a program; null when its id is closed or closing. With the lock held. */
    private CmEvent deliver(RawEvent raw) throws RdmaException {
        Lifetime life = begin(raw);
        if (life == null) {
            drop(raw);
            return null;
        }
        CmId id = raw.type() == CmEventType.CONNECT_REQUEST ? CmId.requested(this, raw) : raw.owner();
        return new CmEvent(this, life, raw, id);
    }

    private Lifetime begin(RawEvent raw) {
        if (raw.owner() == null) {
            return null;
        }
        try {
            MulticastMembership membership = raw.owner().memberships().of(raw);
            return membership == null
                    ? Lifetime.begin(CmEvent.class, life(), raw.owner().lifetime())
                    : Lifetime.begin(CmEvent.class, life(), raw.owner().lifetime(), membership.lifetime());
        } catch (IllegalStateException e) {
            return null;
        }
    }

    private void drop(RawEvent raw) throws RdmaException {
        if (raw.type() == CmEventType.CONNECT_REQUEST) {
            CmId.destroyUnseen(raw.id());
        }
        CmEvent.acknowledge(raw);
    }
}
