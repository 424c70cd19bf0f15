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

/**
 * Something that happened to a device or to one of its objects ({@code struct ibv_async_event},
 * ibv_get_async_event(3)). {@link #close()} acknowledges it, which is due before the object that it names can be
 * closed.
 */
public final class AsyncEvent extends NativeObject {
    private final VerbsContext context;
    private final AsyncEventType type;
    // null when it names none, or one that was not made by this library
    private final NativeObject object;
    private final int port;
    // keeps the struct alive
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
        // of neither this object nor the one that it names may the life keep hold: both could not be found lost
        String text = type + " of " + about;
        life.describe(() -> text);
    }

    /** What happened. */
    public AsyncEventType type() {
        life().ensureOpen();
        return type;
    }

    /** The device that it came from. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * The object that it happened to: the one that the program made.
     *
     * @return empty for events of a port or of the device, and for objects that were not made by this library
     */
    public Optional<NativeObject> object() {
        life().ensureOpen();
        return Optional.ofNullable(object);
    }

    /**
     * The queue pair that it happened to.
     *
     * @throws IllegalStateException when it names none
     */
    public QueuePair queuePair() {
        return named(QueuePair.class);
    }

    /**
     * The completion queue that it happened to.
     *
     * @throws IllegalStateException when it names none
     */
    public CompletionQueue completionQueue() {
        return named(CompletionQueue.class);
    }

    /**
     * The shared receive queue that it happened to.
     *
     * @throws IllegalStateException when it names none
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return named(SharedReceiveQueue.class);
    }

    /**
     * The work queue that it happened to.
     *
     * @throws IllegalStateException when it names none
     */
    public WorkQueue workQueue() {
        return named(WorkQueue.class);
    }

    /**
     * The port that it happened to, from 1 on.
     *
     * @throws IllegalStateException when it names none
     */
    public int port() {
        life().ensureOpen();
        if (type.source() != AsyncEventType.Source.PORT) {
            throw new IllegalStateException(this + " names no port");
        }
        return port;
    }

    /** Acknowledges ({@code ibv_ack_async_event}). */
    @Override
    public void close() throws RdmaException {
        super.close();
    }

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
