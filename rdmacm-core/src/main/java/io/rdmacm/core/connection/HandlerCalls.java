// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.internal.wait.Wait;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the handlers of one connection: those of its operations, and its {@link ConnectionHandler} if it has one. Used
 * with the lock of the loop held, which is released during each call.
 *
 * <p>What a handler throws is logged, but an Error is thrown on, and ends the connection.
 *
 * <p>A connection without a loop has nobody who polls for its handlers when no thread waits. Then a thread of the
 * library, the driver, waits like any other thread until no handler is left to be called.
 */
final class HandlerCalls {
    private static final Logger LOG = LoggerFactory.getLogger(HandlerCalls.class);
    // The handlers of other connections get their turn after this many calls.
    private static final int CALLS_IN_A_ROW = 64;
    private static final List<Room> ROOMS = List.of(Room.values());
    private static final ConnectionHandler NOBODY = new ConnectionHandler() {
    };
    private static final Wait.Goal<Connection.Completions> NOTHING_TO_CALL =
            (mine, none) -> !mine.connection().calls().needsDriver();

    private final Connection connection;
    // null if the program receives the messages itself
    private final @Nullable Function<? super Connection, ? extends ConnectionHandler> handlers;
    private final Loop loop;
    private final MixedThreadsLock lock;
    private final SendRing ring;
    private final Operations operations;
    private final boolean inLoop;
    private final ArrayDeque<ReceiveBuffer> arrived;
    private final Call writable;
    // that of this connection, as soon as the connection is established
    private ConnectionHandler handler = NOBODY;
    private boolean connected;
    private boolean connectReported;
    private boolean ended;
    private boolean endReported;
    // for what the program was told that there is no room
    private final EnumSet<Room> roomWanted = EnumSet.noneOf(Room.class);
    private boolean detached;
    // the thread that waits to call handlers; null while there is nothing to wait for
    private @Nullable Thread driver;
    private boolean driverStarting;

    HandlerCalls(Connection connection, ConnectionQueues queues, Operations operations,
            ArrayDeque<ReceiveBuffer> arrived) {
        this.connection = connection;
        this.handlers = connection.settings().handlers().orElse(null);
        this.loop = queues.loop();
        this.lock = loop.lock;
        this.ring = queues.ring();
        this.operations = operations;
        this.inLoop = queues.isInLoop();
        this.arrived = arrived;
        this.writable = () -> handler.onWritable(connection);
    }

    boolean hasHandler() {
        return handlers != null;
    }

    /** Returns whether this is the thread that only waits to call handlers. */
    boolean isDriver() {
        return driver == Thread.currentThread();
    }

    /** Returns whether messages that have arrived will still be passed to a handler. */
    boolean takesMessages() {
        return handlers != null && connected && !endReported;
    }

    /** Notes that the connection is established. */
    void connected() {
        connected = true;
        if (handlers != null) {
            ready();
        }
    }

    /** Notes that the connection has ended, and that no more messages will arrive than are in the queue. */
    void ended() {
        ended = true;
        if (handlers != null && connected) {
            ready();
        }
    }

    /** Notes that the program could not start an operation for want of room. */
    void wantRoom(Room room) {
        roomWanted.add(room);
    }

    /** Returns whether there is room by now that the program has wanted. */
    private boolean hasWantedRoom() {
        for (Room room : ROOMS) {
            if (roomWanted.contains(room) && connection.isWritable(room)) {
                return true;
            }
        }
        return false;
    }

    /** Notes that a buffer was given back which no completion tells of. */
    void bufferReturned() {
        if (handlers != null && !roomWanted.isEmpty()) {
            ready();
        }
    }

    /** Notes that the connection is being freed: the driver must not wait for it any more. */
    void detached() {
        detached = true;
        loop.wake(connection.member());
    }

    /** Makes somebody call the handlers for what has happened. */
    void ready() {
        loop.ready(connection.member());
        ensureDriver();
    }

    /** Makes sure that somebody polls until the handlers of the operations have been called. */
    void ensureDriver() {
        if (inLoop || detached || driver != null || driverStarting) {
            return;
        }
        try {
            Workers.execute(this::drive);
            driverStarting = true;
        } catch (OutOfMemoryError e) {
            LOG.warn("no thread can be started to call the handlers of {}: they are called by those that wait",
                    connection, e);
        }
    }

    /** Calls handlers, some at a time. Called by the one thread that may do so. */
    void call() {
        operations.beginBatch();
        try {
            for (int i = 0; i < CALLS_IN_A_ROW; i++) {
                if (!callOne()) {
                    return;
                }
            }
            ready();
        } finally {
            operations.endBatch();
        }
    }

    private boolean callOne() {
        if (connected && !connectReported && handlers != null) {
            connectReported = true;
            run(this::connect);
        } else if (ring.hasReport()) {
            report();
        } else if (reportLarge()) {
            return true;
        } else if (connected && handlers != null && !arrived.isEmpty() && !endReported) {
            deliver();
        } else if (ended && connected && handlers != null && !endReported && !ring.hasHandlers()
                && !connection.large().hasHandlers()) {
            reportEnd();
        } else if (connected && handlers != null && !roomWanted.isEmpty() && !ended && hasWantedRoom()) {
            roomWanted.clear();
            run(writable);
        } else {
            return connection.async().callOne(lock);
        }
        return true;
    }

    /** Gets the handler of this connection, and tells it that the connection is established. */
    private void connect() throws Exception {
        try {
            handler = Objects.requireNonNull(Objects.requireNonNull(handlers).apply(connection), "handler");
        } catch (RuntimeException e) {
            // Nobody would take its messages.
            connection.close();
            throw e;
        }
        handler.onConnect(connection);
    }

    /** Reports the end, unless messages that arrived before are still in the queue. */
    private void reportEnd() {
        try {
            if (!detached && loop.takeAll()) {
                return;
            }
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{} ends without its last completions", connection, e);
        }
        if (arrived.isEmpty() && !ring.hasReport()) {
            RdmaException reason = connection.endReason(Connection.RECEIVE);
            Call call = () -> handler.onDisconnect(connection, reason);
            // After this nothing needs memory: if there is none, this is tried again.
            endReported = true;
            run(call);
        }
    }

    private void report() {
        try {
            ring.report(connection, lock);
        } catch (RuntimeException e) {
            LOG.error("a handler of {} failed", connection, e);
        }
        connection.makeProgress();
    }

    private boolean reportLarge() {
        try {
            return connection.large().callOne(lock);
        } catch (RuntimeException e) {
            LOG.error("a handler of {} failed", connection, e);
            return true;
        }
    }

    private void deliver() {
        ReceiveBuffer buffer = arrived.element();
        // not one for all: the program may keep it, and must not find the bytes of another one in it
        Message message = new Message(connection, buffer);
        arrived.remove();
        int holds = lock.release();
        try {
            if (buffer.isRemoteWrite()) {
                handler.onImmediate(connection, buffer.immediate(), buffer.length());
            } else {
                handler.onMessage(connection, message);
            }
        } catch (Exception e) {
            LOG.error("a handler of {} failed", connection, e);
        } finally {
            lock.retake(holds);
            connection.takeBack(message);
        }
    }

    /** A call of the connection's handler. */
    @FunctionalInterface
    private interface Call {
        void run() throws Exception;
    }

    private void run(Call call) {
        int holds = lock.release();
        try {
            call.run();
        } catch (Exception e) {
            LOG.error("a handler of {} failed", connection, e);
        } finally {
            lock.retake(holds);
        }
    }

    private boolean needsDriver() {
        return !detached && (ring.hasHandlers() || connection.large().hasHandlers() || connection.async().isWaiting()
                || handlers != null && connected && !endReported);
    }

    private void drive() {
        lock.lock();
        driver = Thread.currentThread();
        driverStarting = false;
        try {
            while (needsDriver()) {
                waitAndCall();
            }
        } catch (RdmaException | RuntimeException e) {
            // The program has closed a part of the connection, or the device has failed.
            LOG.debug("nobody calls the handlers of {} any more until it is closed", connection, e);
            detached = true;
        } finally {
            driver = null;
            lock.unlock();
        }
    }

    private void waitAndCall() throws RdmaException {
        try {
            connection.await(NOTHING_TO_CALL, 0, Deadline.FOREVER, "ibv_poll_cq");
        } catch (InterruptedException e) {
            // A handler may have interrupted its thread, which must not end it.
            LOG.debug("ignored an interrupt", e);
        } catch (VirtualMachineError e) {
            // Nobody else would call the handlers, which are to be told of the end.
            connection.member().end(e);
        }
    }
}
