// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_async_event;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
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
 * The asynchronous events of one context, and the objects that they can name. As long as nobody asks for events, none
 * are read; C then discards the events of an object together with the object.
 *
 * <p>C blocks forever in the destruction of an object whose events have been read but not acknowledged. An event that
 * was handed out therefore keeps its object from being closed, and one that is still waiting to be fetched is
 * acknowledged here before its object is destroyed.
 */
final class AsyncEvents {
    private static final NativeFunction GET_ASYNC_EVENT = NativeFunction.of("ibv_get_async_event");
    private static final NativeFunction ACK_ASYNC_EVENT = NativeFunction.of("ibv_ack_async_event");

    private final VerbsContext context;
    private final long address;
    // Weak: a strong reference would hide leaks from the detector. A new object may have the address of one that was
    // just destroyed, and whose entry has not been removed yet.
    private final Map<Long, WeakReference<NativeObject>> objects = new ConcurrentHashMap<>();
    // created when somebody first asks for an event; guarded by this
    private @Nullable EventSource<Raw> source;
    // An event that C has handed out and read() has not: there was no memory. Guarded by the lock of the source.
    private @Nullable MemorySegment unread;

    AsyncEvents(VerbsContext context, long address) {
        this.context = context;
        this.address = address;
    }

    /** An event as read from C, and the object that it names, or null. */
    record Raw(MemorySegment struct, AsyncEventType type, @Nullable NativeObject object) {
    }

    /** Registers an object that events can name from now on. */
    void add(NativeObject object) {
        objects.put(object.address(), new WeakReference<>(object));
    }

    /** Destroys an object while no event of it can be in flight. */
    void destroy(NativeObject object, Lifetime.Destroyer destroyer) throws RdmaException {
        EventSource<Raw> reading;
        synchronized (this) {
            reading = source;
            if (reading == null) {
                destroyer.destroy();
                remove(object);
                return;
            }
        }
        try (var _ = reading.lock().hold()) {
            reading.readBeforeDestroy();
            for (Raw raw : reading.removePending(raw -> raw.object() == object)) {
                acknowledge(raw.struct());
            }
            destroyer.destroy();
            remove(object);
        }
    }

    /** Undoes {@link #add}. */
    void remove(NativeObject object) {
        objects.computeIfPresent(object.address(), (address, named) -> named.refersTo(object) ? null : named);
    }

    /** Waits for an event. The caller has entered the lifetime of the context. */
    AsyncEvent next(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        AsyncEvent event = source().next(raw -> true, this::ensureContextOpen, deadline, this::deliver);
        if (event == null) {
            throw new RdmaTimeoutException(GET_ASYNC_EVENT.name(), "no asynchronous event within " + timeout);
        }
        return event;
    }

    /** Returns an event if there is one. The caller has entered the lifetime of the context. */
    Optional<AsyncEvent> poll() throws RdmaException {
        EventSource<Raw> reading = source();
        try (var _ = reading.lock().hold()) {
            return Optional.ofNullable(reading.poll(raw -> true, this::deliver));
        }
    }

    /** Returns the file descriptor that is readable when there is an event, and makes it non-blocking. */
    int fd() throws RdmaException {
        source();
        return file();
    }

    synchronized void wake() {
        if (source != null) {
            source.wake();
        }
    }

    /** Closes the context, and with it the file of the events. */
    synchronized void close(EventSource.Closer closer) throws RdmaException {
        if (source == null) {
            closer.close();
        } else {
            source.close(closer);
        }
    }

    static void acknowledge(MemorySegment struct) throws RdmaException {
        try {
            ACK_ASYNC_EVENT.callInt(struct.address());
        } finally {
            // C reads the struct, and this may be the last reference to it
            Reference.reachabilityFence(struct);
        }
    }

    /** Closes this after C has freed the context; no platform thread is waiting any more. */
    void abandon() {
        try {
            close(() -> { });
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    private int file() {
        return Memory.getInt(address + ibv_context.async_fd$offset());
    }

    private synchronized EventSource<Raw> source() throws RdmaException {
        if (source == null) {
            // A virtual thread may come here after a close, which does not wait for it; later ones wait for the lock.
            ensureContextOpen();
            source = new EventSource<>(file(), this::read);
        }
        return source;
    }

    private void ensureContextOpen() throws RdmaClosedException {
        if (!context.isOpen()) {
            throw new RdmaClosedException(GET_ASYNC_EVENT.name(), "the " + context);
        }
    }

    private @Nullable Raw read() throws RdmaException {
        if (unread == null) {
            MemorySegment struct = NativeMemory.get(GET_ASYNC_EVENT.name(),
                    () -> ibv_async_event.allocate(Arena.ofAuto()));
            if (GET_ASYNC_EVENT.callInt(address, struct.address()) != 0) {
                int errno = Errno.last();
                if (errno == Rdma.EAGAIN()) {
                    return null;
                }
                throw Failures.of(GET_ASYNC_EVENT.name(), errno);
            }
            unread = struct;
        }
        MemorySegment struct = unread;
        AsyncEventType type = AsyncEventType.of(ibv_async_event.event_type(struct));
        Raw raw = switch (type.source()) {
            case PORT, DEVICE -> new Raw(struct, type, null);
            default -> new Raw(struct, type, named(struct));
        };
        unread = null;
        return raw;
    }

    private @Nullable NativeObject named(MemorySegment struct) {
        long element = Memory.getLong(struct.address() + ibv_async_event.element$offset());
        WeakReference<NativeObject> object = objects.get(element);
        return object == null ? null : object.get();
    }

    /** Makes an event of what was read; null if its object is being closed, since nobody needs to know any more. */
    private @Nullable AsyncEvent deliver(Raw raw) throws RdmaException {
        NativeObject parent = raw.object() == null ? context : raw.object();
        try {
            // If there is no memory for the event, it is delivered later.
            return Lifetime.make(AsyncEvent.class, List.of(parent.life()),
                    (life, none) -> new AsyncEvent(context, life, raw));
        } catch (IllegalStateException e) {
            acknowledge(raw.struct());
            return null;
        }
    }
}
