// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.List;

import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.life.Stack;
import org.jspecify.annotations.Nullable;

/**
 * Drives connections over one device: polls their completions, which share completion queues, and calls their handlers.
 *
 * <p>A loop that {@link ConnectionManager#openLoop} has returned is driven by a thread of the program:
 *
 * <pre>{@code
 * while (running) {
 *     if (loop.progress() == 0 && loop.arm()) {
 *         // wait until loop.fd() is readable, with epoll for instance
 *     }
 * }
 * }</pre>
 *
 * <p>Threads that wait in a method of a connection may do so as well; they poll if nobody else does, but only
 * {@link #progress()} calls handlers.
 *
 * <p>All methods may be called from any thread.
 */
public final class ConnectionLoop extends ConnectionLoopGroup {
    // Completions of a first queue: small enough to be cheap, large enough for some hundred connections.
    private static final int EXPECTED_COMPLETIONS = 4096;

    private final ConnectionManager manager;
    private final DeviceResources device;
    private final LoopSettings settings;
    private final Loop loop;
    // null without shared receives
    private final @Nullable SharedReceiveQueue sharedReceiveQueue;
    private final @Nullable ReceiveBuffers sharedReceives;
    @SuppressWarnings("NullAway.Init")
    private Thread thread;

    private ConnectionLoop(ConnectionManager manager, DeviceResources device, LoopSettings settings,
            Loop loop, @Nullable SharedReceiveQueue queue, @Nullable ReceiveBuffers receives) {
        this.manager = manager;
        this.device = device;
        this.settings = settings;
        this.loop = loop;
        this.sharedReceiveQueue = queue;
        this.sharedReceives = receives;
    }

    static ConnectionLoop open(ConnectionManager manager, DeviceResources device, LoopSettings settings)
            throws RdmaException {
        try (Parts parts = new Parts()) {
            Loop loop = parts.add(new Loop(device.context(), device.maxCompletions(), false), Loop::close);
            int count = settings.sharedReceives();
            if (count == 0) {
                return parts.complete(new ConnectionLoop(manager, device, settings, loop, null, null));
            }
            SharedReceiveQueue queue = parts.add(device.domain().createSharedReceiveQueue(
                    SharedReceiveQueueInitAttributes.builder().maxRequests(count).build()), SharedReceiveQueue::close);
            ReceiveBuffers receives = parts.add(new ReceiveBuffers(device, settings.messageSize(), count, true,
                    queue::postReceive), posted -> {
                        queue.close();
                        posted.close();
                    });
            // Every receive can complete for connections of any of the completion queues.
            loop.promise(count);
            return parts.complete(new ConnectionLoop(manager, device, settings, loop, queue, receives));
        }
    }

    /** Starts a thread that drives this loop until it is closed. */
    void start() {
        thread = Thread.ofPlatform().daemon().name("rdmacm-loop-" + device.context().deviceName())
                .start(() -> loop.run(settings.waiting().spinNanos()));
    }

    @Override
    ConnectionLoop next(ConnectionManager wanted, DeviceResources wantedDevice) {
        if (wanted != manager) {
            throw new IllegalArgumentException("the loop belongs to another connection manager");
        }
        if (wantedDevice != device) {
            throw new IllegalArgumentException("the loop belongs to another device, "
                    + device.context().deviceName() + ", than the connection");
        }
        loop.requireOpen();
        return this;
    }

    Loop loop() {
        return loop;
    }

    @Override
    void requireNotInHandler() {
        loop.requireNoHandler();
    }

    @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** Returns the shared buffers, null if each connection has its own. */
    @Nullable ReceiveBuffers sharedReceives() {
        return sharedReceives;
    }

    int expectedCompletions() {
        return EXPECTED_COMPLETIONS;
    }

    /**
     * Takes the completions that are there, at most one batch, and calls handlers. Never waits.
     *
     * @return how many completions were taken, or how many connections had handlers to call if these are more; 0 if
     *         there was nothing to do
     * @throws IllegalStateException when the loop is closed, has a thread of its own, or this is a handler
     * @throws RdmaException when a completion queue has overrun or the device has failed
     */
    public int progress() throws RdmaException {
        requireDriven();
        return loop.drive();
    }

    /**
     * Prepares for waiting until {@link #fd()} is readable: asks the device for an event.
     *
     * @return false if there is something to do already: call {@link #progress()} instead of waiting
     * @throws IllegalStateException when the loop is closed or has a thread of its own
     * @throws RdmaException when a completion queue has overrun or the device has failed
     */
    public boolean arm() throws RdmaException {
        requireDriven();
        return loop.prepareSleep();
    }

    /**
     * Returns a file descriptor for poll(2), epoll(7) and the event loops that use them: after {@link #arm()}, it is
     * readable when there is something to do.
     *
     * @return the file descriptor, which belongs to this loop: do not read or close it
     * @throws IllegalStateException when the loop is closed or has a thread of its own
     * @throws RdmaException EMFILE when there are too many files
     */
    public int fd() throws RdmaException {
        requireDriven();
        return loop.fd();
    }

    @Override
    public int connections() {
        return loop.members().size();
    }

    @Override
    public long completions() {
        return loop.completions();
    }

    /**
     * Ends the loop and frees its queues. Inside a handler of the loop this is refused.
     *
     * @throws IllegalStateException when connections of the loop are still open or being made; nothing has changed
     * @throws RdmaException when C cannot free a queue; call this again
     */
    @Override
    public void close() throws RdmaException {
        Stack.require();
        stop(List.of(this));
        end();
        manager.forget(this);
    }

    /** Stops some loops: all, or none if one of them is in use. */
    static void stop(List<ConnectionLoop> loops) {
        if (loops.isEmpty()) {
            return;
        }
        ConnectionLoop first = loops.getFirst();
        // All their locks are held when the first one stops, so that no connection comes in between.
        try (var _ = first.loop.lock.hold()) {
            first.requireUnused();
            stop(loops.subList(1, loops.size()));
            first.loop.stop();
        }
    }

    /** Closes a loop that was stopped. */
    void end() throws RdmaException {
        if (thread != null) {
            CmLoop.join(thread);
        }
        if (sharedReceiveQueue != null && sharedReceives != null) {
            sharedReceiveQueue.close();
            try (var _ = loop.lock.hold()) {
                sharedReceives.close();
            }
        }
        loop.close();
    }

    private void requireUnused() {
        loop.requireNoHandler();
        List<Loop.Member> open = loop.members();
        if (!open.isEmpty()) {
            throw new IllegalStateException(this + " still drives " + open.size() + " connections, such as "
                    + open.getFirst());
        }
        if (loop.isReserved()) {
            throw new IllegalStateException("a connection of " + this + " is being made or closed");
        }
    }

    private void requireDriven() {
        loop.requireOpen();
        if (thread != null) {
            throw new IllegalStateException(this + " has a thread of its own");
        }
    }

    @Override
    public String toString() {
        return "ConnectionLoop[" + device.context().deviceName() + ", " + connections() + " connections]";
    }
}
