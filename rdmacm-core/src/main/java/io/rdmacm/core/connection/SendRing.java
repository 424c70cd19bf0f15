// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a connection as a ring. An operation is added, posted, completed and at last reported to its
 * handler, always in this order and in the order of the operations, so that four counters describe the ring:
 * {@code reported <= completed <= posted <= added}. The work request id is the number of the operation.
 *
 * <p>Only operations that somebody waits for are signaled. Because a reliable queue completes in order, the completion
 * of one operation is that of all before it. Copied messages need no completion but that which frees their buffers: one
 * for a quarter of the ring or of the buffers is enough.
 *
 * <p>Used with the lock of the loop held. Nothing is allocated after the constructor but buffers.
 */
final class SendRing {
    private final QueuePair pair;
    private final DeviceResources device;
    private final ConnectionSettings settings;
    private final SendRequests requests;
    private final int capacity;
    private final @Nullable OperationHandler[] handlers;
    private final long[] contexts;
    private final @Nullable RegisteredSlice[] slices;
    // Buffers for messages and results: taken from the pool when they are first needed.
    private final ArrayDeque<RegisteredSlice> freeSlices = new ArrayDeque<>();
    private final List<RegisteredSlice> taken = new ArrayList<>();
    private long added;
    private long posted;
    private long completed;
    private long reported;
    // the number of the last signaled operation plus one, and how many buffers unsignaled operations have used since
    private long signaled;
    private int slicesSinceSignal;
    // the same before the last operation was added, which may be retracted
    private long signaledBefore;
    private int slicesBefore;
    // the first operation that failed, and why; all after it have failed too
    private long firstFailed = Long.MAX_VALUE;
    private @Nullable RdmaException failure;
    // the first operation that the device refused together with others, so that it will never raise a completion
    private long firstUnposted = Long.MAX_VALUE;
    private int pendingHandlers;
    private boolean closed;

    /**
     * Creates an empty ring.
     *
     * @param pair the queue pair
     * @param device where the buffers come from
     * @param settings the sizes
     */
    SendRing(QueuePair pair, DeviceResources device, ConnectionSettings settings) {
        this.pair = pair;
        this.device = device;
        this.settings = settings;
        this.capacity = settings.sendBuffers() + settings.operations();
        this.requests = SendRequests.allocate(capacity, settings.scatterGather());
        this.handlers = new OperationHandler[capacity];
        this.contexts = new long[capacity];
        this.slices = new RegisteredSlice[capacity];
    }

    /** Returns how many operations can be added. */
    int free() {
        return capacity - (int) (added - reported);
    }

    /** Returns whether a buffer can be taken. */
    boolean hasSlice() {
        return !freeSlices.isEmpty() || taken.size() < settings.sendBuffers();
    }

    /** Takes a buffer for a message, which is given back or added with an operation. */
    RegisteredSlice takeSlice() throws RdmaException {
        RegisteredSlice slice = freeSlices.poll();
        if (slice == null) {
            slice = device.pool(settings.messageSize()).take();
            taken.add(slice);
        }
        return slice;
    }

    void giveBack(RegisteredSlice slice) {
        if (closed) {
            device.reclaim(slice);
        } else {
            freeSlices.push(slice);
        }
    }

    /** Returns the request of the next operation, to be filled in. Nothing is changed until {@link #add}. */
    SendRequest next() {
        return requests.get(index(added));
    }

    /**
     * Adds the operation that was filled in.
     *
     * @param handler to be told when it has finished; null if nobody needs to know
     * @param context for the handler
     * @param slice a buffer to be given back when it has finished, or null
     * @param signal whether its completion is waited for, even without a handler
     * @return the number of the operation
     */
    long add(@Nullable OperationHandler handler, long context, @Nullable RegisteredSlice slice, boolean signal) {
        int index = index(added);
        handlers[index] = handler;
        contexts[index] = context;
        slices[index] = slice;
        if (isReported(handler)) {
            pendingHandlers++;
        }
        signaledBefore = signaled;
        slicesBefore = slicesSinceSignal;
        if (slice != null) {
            slicesSinceSignal++;
        }
        boolean needed = signal || handler != null || free() == 1 || added + 1 - signaled >= Math.max(1, capacity / 4)
                || slicesSinceSignal >= Math.max(1, settings.sendBuffers() / 4);
        requests.get(index).id(added).signaled(needed);
        if (needed) {
            signaled = added + 1;
            slicesSinceSignal = 0;
        }
        return added++;
    }

    boolean hasUnposted() {
        return posted < added;
    }

    /**
     * Posts what was added, with one call unless the ring wraps.
     *
     * @param retract whether the last operation was added just now by the caller, who reports an exception himself
     * @throws RdmaException if the device refuses an operation. The last one is removed then if it is the only one that
     *         was not posted and is to be retracted; otherwise all that were not posted have failed.
     */
    void post(boolean retract) throws RdmaException {
        while (posted < added) {
            int first = index(posted);
            int count = (int) Math.min(added - posted, capacity - first);
            try {
                pair.postSend(requests, first, count);
                posted += count;
            } catch (WorkRequestException | RdmaUnsupportedException e) {
                Throwable refused = e instanceof WorkRequestException ? e : e.getCause();
                // Without one, the driver has not seen any of them.
                posted += refused instanceof WorkRequestException cause ? cause.failedIndex() - first : 0;
                refused(e, retract);
                throw e;
            } catch (IllegalStateException e) {
                RdmaException closed = new RdmaClosedException("ibv_post_send", "the queue pair");
                closed.initCause(e);
                refused(closed, retract);
                throw closed;
            } catch (Error e) {
                // Otherwise what its caller was told had failed would be posted later.
                RdmaException failed = Connection.reasonOf(e);
                refused(failed, retract);
                throw failed;
            }
        }
    }

    private void refused(RdmaException reason, boolean retract) {
        if (retract && added - posted == 1) {
            added--;
            int index = index(added);
            if (isReported(handlers[index])) {
                pendingHandlers--;
            }
            handlers[index] = null;
            returnSlice(index);
            signaled = signaledBefore;
            slicesSinceSignal = slicesBefore;
        } else {
            fail(posted, reason);
            firstUnposted = posted;
            posted = added;
            completeUnposted();
        }
    }

    /** Returns how many operations have not completed. */
    long pending() {
        return added - completed;
    }

    /** Returns what the oldest operation is that has not completed; there is one. */
    SendOpcode oldest() {
        return requests.get(index(completed)).opcode();
    }

    /** Returns whether all operations have completed. */
    boolean isEmpty() {
        return completed == added;
    }

    /** Returns whether the last operation will raise a completion. */
    boolean isLastSignaled() {
        return signaled == added;
    }

    /** Returns the number of the last operation, which is negative if there was none. */
    long last() {
        return added - 1;
    }

    boolean isCompleted(long operation) {
        return operation < completed;
    }

    /** Returns why an operation that has completed failed; null if it succeeded. */
    @Nullable RdmaException failureOf(long operation) {
        return operation < firstFailed ? null : failure;
    }

    /** Returns the first failure, null if there was none. */
    @Nullable RdmaException failure() {
        return failure;
    }

    /**
     * Takes a completion.
     *
     * @param operation the number of the operation
     * @param reason null if it succeeded
     */
    void complete(long operation, @Nullable RdmaException reason) {
        if (operation < completed || operation >= posted) {
            return;
        }
        if (reason != null) {
            fail(operation, reason);
        }
        completeUntil(operation + 1);
        completeUnposted();
    }

    /** Fails everything that has not completed, after the queue pair was destroyed. */
    void abandon(RdmaException reason) {
        if (completed < added) {
            fail(completed, reason);
            posted = added;
            completeUntil(added);
        }
    }

    /** Returns whether handlers will be called. */
    boolean hasHandlers() {
        return pendingHandlers > 0;
    }

    /** Returns whether an operation has completed whose handler was not called yet. */
    boolean hasReport() {
        return reported < completed;
    }

    /** Takes the next operation whose handler is to be called, and calls it with the lock released. */
    @SuppressWarnings("NullAway") // what is reported next has a handler
    void report(Connection connection, MixedThreadsLock lock) {
        int index = index(reported);
        OperationHandler handler = handlers[index];
        long context = contexts[index];
        RdmaException reason = connection.cause(failureOf(reported));
        handlers[index] = null;
        pendingHandlers--;
        reported++;
        skipUnhandled();
        int holds = lock.release();
        try {
            handler.completed(connection, context, reason);
        } finally {
            lock.retake(holds);
        }
    }

    /** Frees the buffers, after the queue pair was destroyed. A message that is being filled in keeps its own. */
    void close() {
        for (RegisteredSlice slice : taken) {
            if (freeSlices.contains(slice)) {
                slice.close();
            } else {
                device.lend(slice);
            }
        }
        taken.clear();
        freeSlices.clear();
        closed = true;
    }

    private static boolean isReported(@Nullable OperationHandler handler) {
        return handler != null && !(handler instanceof Immediate);
    }

    private void fail(long operation, RdmaException reason) {
        if (operation < firstFailed) {
            firstFailed = operation;
            failure = reason;
        }
    }

    /** A handler of this package that is called with the lock held, as soon as its operation has completed. */
    @FunctionalInterface
    interface Immediate extends OperationHandler {
        @Override
        void completed(@Nullable Connection none, long context, @Nullable RdmaException failure);
    }

    private void completeUnposted() {
        if (completed >= firstUnposted) {
            completeUntil(posted);
        }
    }

    private void completeUntil(long end) {
        while (completed < end) {
            int index = index(completed);
            returnSlice(index);
            if (handlers[index] instanceof Immediate immediate) {
                handlers[index] = null;
                immediate.completed(null, contexts[index], failureOf(completed));
            }
            completed++;
        }
        skipUnhandled();
    }

    /** Passes over completed operations that have no handler. */
    private void skipUnhandled() {
        while (reported < completed && handlers[index(reported)] == null) {
            reported++;
        }
    }

    private void returnSlice(int index) {
        if (slices[index] != null) {
            giveBack(slices[index]);
            slices[index] = null;
        }
    }

    private int index(long operation) {
        return (int) (operation % capacity);
    }
}
