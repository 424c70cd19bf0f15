// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_async_event;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a device or to one of its objects ({@code struct ibv_async_event},
 * ibv_get_async_event(3)). {@link #close()} acknowledges the event. The object that it names cannot be closed before
 * that.
 */
public final class AsyncEvent extends NativeObject {
    private final VerbsContext context;
    private final AsyncEventType type;
    // null if the event names no object, or one that this library did not create
    private final @Nullable NativeObject object;
    private final int port;
    // holds the struct that C is given again to acknowledge the event
    private final MemorySegment memory;

    AsyncEvent(VerbsContext context, Lifetime life, AsyncEvents.Raw raw) {
        super(life, raw.struct().address(), ibv_async_event.sizeof());
        this.context = context;
        this.memory = raw.struct();
        this.type = raw.type();
        this.object = raw.object();
        this.port = type.source() == AsyncEventType.Source.PORT
                ? Memory.getInt(memory.address() + ibv_async_event.element$offset())
                : 0;
        String about = switch (type.source()) {
            case PORT -> "port " + port + " of " + context.deviceName();
            case DEVICE -> context.deviceName();
            default -> object == null ? "an object of another library" : object.toString();
        };
        // a strong reference to this object or to the one that it names would hide leaks from the detector
        String text = type + " of " + about;
        life.describe(() -> text);
    }

    /** {@return what happened} */
    public AsyncEventType type() {
        life().ensureOpen();
        return type;
    }

    /** {@return the context of the device that reported the event} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Returns the object that the event is about, as the program created it.
     *
     * @return the object; empty for events of a port or of the whole device, and for objects that this library did not
     *         create
     */
    public Optional<NativeObject> object() {
        life().ensureOpen();
        return Optional.ofNullable(object);
    }

    /**
     * Returns the queue pair that the event is about.
     *
     * @return the queue pair
     * @throws IllegalStateException if the event names no queue pair
     */
    public QueuePair queuePair() {
        return named(QueuePair.class);
    }

    /**
     * Returns the completion queue that the event is about.
     *
     * @return the completion queue
     * @throws IllegalStateException if the event names no completion queue
     */
    public CompletionQueue completionQueue() {
        return named(CompletionQueue.class);
    }

    /**
     * Returns the shared receive queue that the event is about.
     *
     * @return the shared receive queue
     * @throws IllegalStateException if the event names no shared receive queue
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return named(SharedReceiveQueue.class);
    }

    /**
     * Returns the work queue that the event is about.
     *
     * @return the work queue
     * @throws IllegalStateException if the event names no work queue
     */
    public WorkQueue workQueue() {
        return named(WorkQueue.class);
    }

    /**
     * Returns the port that the event is about.
     *
     * @return the port number, from 1
     * @throws IllegalStateException if the event is not about a port
     */
    public int port() {
        life().ensureOpen();
        if (type.source() != AsyncEventType.Source.PORT) {
            throw new IllegalStateException(this + " names no port");
        }
        return port;
    }

    /**
     * Acknowledges the event ({@code ibv_ack_async_event}, ibv_get_async_event(3)).
     *
     * @throws RdmaException never; acknowledging cannot fail
     */
    @Override
    public void close() throws RdmaException {
        super.close();
    }

    /** @hidden */
    @Override
    @CFunction("ibv_ack_async_event")
    protected void destroy() throws RdmaException {
        AsyncEvents.acknowledge(memory);
    }

    private <T extends NativeObject> T named(Class<T> kind) {
        life().ensureOpen();
        if (!kind.isInstance(object)) {
            throw new IllegalStateException(this + " names no " + kind.getSimpleName());
        }
        return kind.cast(object);
    }
}
