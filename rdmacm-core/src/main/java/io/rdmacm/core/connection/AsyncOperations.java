// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.internal.engine.GuardedFuture;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * Operations of a {@link Connection} that return at once; the future completes when the operation has finished.
 * Operations are started in the order of the calls. Those for which there is no room wait inside the connection, up to
 * {@link ConnectionSettings#asyncLimit()} of them, and as long as the copies of messages that wait have no more than
 * {@value #MOST_BYTES} bytes together. {@link ConnectionSettings#asyncOverflow()} says what becomes of further ones:
 * their futures fail with an RdmaException at once, or the calls wait. If a call that waits is interrupted, the
 * operation is not started, and its future fails. In a handler, a call that would wait throws IllegalStateException.
 *
 * <p>All methods may be called from any thread. A future fails with an {@link RdmaException}, as described in
 * {@link Connection}, if the operation failed or the connection has ended. Wrong arguments make the call
 * itself throw: an IndexOutOfBoundsException if the offset and the length are not within the region, or not within the
 * remote memory, an IllegalArgumentException if the region belongs to another protection domain than
 * {@link Connection#protectionDomain()}, or lacks the LOCAL_WRITE that a read needs. The memory of a region
 * must not be changed, and the region not be closed, before the future completes. Dependent actions that are not
 * asynchronous run in the thread that drives the connection, see {@link ConnectionHandler}; they must not wait, and a
 * handler that would wait for a future of its own loop with {@code get} or {@code join} gets an IllegalStateException;
 * one that waits for a future of {@code CompletableFuture.allOf} waits for ever. To cancel a future does not cancel the
 * operation.
 */
public final class AsyncOperations {
    private static final int MOST_BYTES = 1 << 26;

    private final Connection connection;
    private final int limit;
    private final Runnable guard;
    // The following two are guarded by the lock of the connection.
    // what there was no room for
    private final ArrayDeque<Operation<?>> waiting = new ArrayDeque<>();
    // of the copies of messages in it
    private long bytes;
    // what could not be started when there was room
    private final ArrayDeque<Operation<?>> failed = new ArrayDeque<>();

    AsyncOperations(Connection connection) {
        this.connection = connection;
        this.limit = connection.settings().asyncLimit();
        this.guard = connection::requireNotInHandler;
    }

    /**
     * Sends a copy of a message ({@code IBV_WR_SEND}). The memory can be reused when this returns: while there is no
     * room, a copy of the message waits on the Java heap.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes, in native or heap memory; may be empty
     * @return completes when the peer's device has acknowledged the message
     * @throws IllegalArgumentException when the message is too long
     */
    public CompletableFuture<Void> send(MemorySegment data) {
        connection.requireFitting(data.byteSize());
        return submit(Room.BUFFER, new CopiedMessage(connection, data), () -> null);
    }

    /**
     * Sends part of a region as a message ({@code IBV_WR_SEND}), or announces a
     * {@linkplain ConnectionSettings.Builder#largeMessages large} one.
     *
     * @param region a region of {@link Connection#protectionDomain()}; for a large message with
     *        {@link io.rdmacm.verbs.work.AccessFlag#REMOTE_READ}
     * @param offset where the message is in the region, in bytes
     * @param length the length in bytes
     * @return completes when the peer's device has acknowledged the message, or the peer has read it
     */
    public CompletableFuture<Void> send(MemoryRegion region, long offset, long length) {
        if (connection.large().areFor(length)) {
            try {
                connection.large().check(region, offset, length);
            } catch (RdmaException e) {
                return CompletableFuture.failedFuture(e);
            }
            return submit(Room.LARGE_MESSAGE, operation -> connection.large().announce(region, offset, length,
                    operation, 0, null), () -> null);
        }
        return operate(SendOpcode.SEND, region, offset, length, null, 0);
    }

    /**
     * Sends part of a region as a message with an immediate value ({@code IBV_WR_SEND_WITH_IMM}).
     *
     * @param region a region of {@link Connection#protectionDomain()}
     * @param offset where the message is in the region, in bytes
     * @param length the length in bytes
     * @param immediate the value, in the byte order of this machine
     * @return completes when the peer's device has acknowledged the message
     */
    public CompletableFuture<Void> sendWithImmediate(MemoryRegion region, long offset, long length, int immediate) {
        connection.large().requireOther(immediate);
        return operate(SendOpcode.SEND_WITH_IMM, region, offset, length, null, immediate);
    }

    /**
     * Sends several parts of memory as one message ({@code IBV_WR_SEND}).
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @return completes when the peer's device has acknowledged the message
     * @throws IllegalArgumentException when there are too many parts
     */
    public CompletableFuture<Void> send(ScatterGatherList parts) {
        return operate(SendOpcode.SEND, parts, null);
    }

    /**
     * Reads the peer's memory into several parts of local memory, which are filled one after the other.
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @param remote the peer's memory, of which as many bytes are read as the parts have
     * @return completes when the data has arrived
     * @throws IllegalArgumentException when there are too many parts
     */
    public CompletableFuture<Void> read(ScatterGatherList parts, RemoteMemory remote) {
        return operate(SendOpcode.RDMA_READ, parts, remote);
    }

    /**
     * Writes several parts of local memory to the peer's memory, one after the other.
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @param remote the peer's memory, of which as many bytes are written as the parts have
     * @return completes when the peer's device has acknowledged the write
     * @throws IllegalArgumentException when there are too many parts
     */
    public CompletableFuture<Void> write(ScatterGatherList parts, RemoteMemory remote) {
        return operate(SendOpcode.RDMA_WRITE, parts, remote);
    }

    /**
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}).
     *
     * @param local the region to read into, with {@link io.rdmacm.verbs.work.AccessFlag#LOCAL_WRITE}
     * @param offset where the data goes in the region, in bytes
     * @param length how many bytes to read, less than 2 GiB
     * @param remote the peer's memory to read from
     * @return completes when the data has arrived
     */
    public CompletableFuture<Void> read(MemoryRegion local, long offset, long length, RemoteMemory remote) {
        return operate(SendOpcode.RDMA_READ, local, offset, length, remote, 0);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}).
     *
     * @param local the region to write from
     * @param offset where the data is in the region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to
     * @return completes when the peer's device has acknowledged the write
     */
    public CompletableFuture<Void> write(MemoryRegion local, long offset, long length, RemoteMemory remote) {
        return operate(SendOpcode.RDMA_WRITE, local, offset, length, remote, 0);
    }

    /**
     * Writes to the peer's memory and tells the peer ({@code IBV_WR_RDMA_WRITE_WITH_IMM}).
     *
     * @param local the region to write from
     * @param offset where the data is in the region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to
     * @param immediate the value for the peer, in the byte order of this machine
     * @return completes when the peer's device has acknowledged the write
     */
    public CompletableFuture<Void> writeWithImmediate(MemoryRegion local, long offset, long length, RemoteMemory remote,
            int immediate) {
        return operate(SendOpcode.RDMA_WRITE_WITH_IMM, local, offset, length, remote, immediate);
    }

    /**
     * Compares 8 bytes of the peer's memory with a value, and if they are equal, replaces them
     * ({@code IBV_WR_ATOMIC_CMP_AND_SWP}).
     *
     * @param remote the peer's memory, whose first 8 bytes are meant
     * @param expected the value to compare with
     * @param replacement the new value
     * @return completes with the value before, in the byte order of the peer's machine
     * @throws IllegalArgumentException when the address is not a multiple of 8
     */
    public CompletableFuture<Long> compareAndSwap(RemoteMemory remote, long expected, long replacement) {
        return atomic(SendOpcode.ATOMIC_CMP_AND_SWP, remote, expected, replacement);
    }

    /**
     * Adds to 8 bytes of the peer's memory ({@code IBV_WR_ATOMIC_FETCH_AND_ADD}).
     *
     * @param remote the peer's memory, whose first 8 bytes are meant
     * @param summand the value to add
     * @return completes with the value before, in the byte order of the peer's machine
     * @throws IllegalArgumentException when the address is not a multiple of 8
     */
    public CompletableFuture<Long> fetchAndAdd(RemoteMemory remote, long summand) {
        return atomic(SendOpcode.ATOMIC_FETCH_AND_ADD, remote, summand, 0);
    }

    private CompletableFuture<Void> operate(SendOpcode opcode, MemoryRegion region, long offset, long length,
            @Nullable RemoteMemory remote, int immediate) {
        connection.operations().check(opcode, region, offset, length, remote, 0);
        return submit(Room.REQUEST, operation -> connection.operations().start(opcode, region, offset, length, remote,
                0, immediate, operation, 0, false), () -> null);
    }

    private CompletableFuture<Void> operate(SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote) {
        connection.operations().check(opcode, parts, remote, 0);
        return submit(Room.REQUEST, new Parts(connection, opcode, parts, remote), () -> null);
    }

    private CompletableFuture<Long> atomic(SendOpcode opcode, RemoteMemory remote, long first, long second) {
        Operations.checkAtomic(remote, 0);
        AtomicResult result = new AtomicResult(connection);
        return submit(Room.BUFFER, operation -> result.start(opcode, remote, first, second, operation), result::take);
    }

    private <T> CompletableFuture<T> submit(Room room, Starter starter, Result<T> result) {
        Operation<T> operation = new Operation<>(guard, room, starter, result);
        try {
            connection.submit(operation);
        } catch (RdmaException e) {
            operation.future.completeExceptionally(e);
        }
        return operation.future;
    }

    /** Returns whether an operation with as many bytes to be copied can be started or wait. With the lock held. */
    boolean takes(long copied) {
        return waiting.isEmpty() || waiting.size() < limit && bytes + copied <= MOST_BYTES;
    }

    /** Starts an operation, or lets it wait for room. With the lock held. */
    void add(Operation<?> operation) {
        if (!waiting.isEmpty() || !connection.canStart(operation.room)) {
            if (!takes(operation.bytes())) {
                // Nothing depends on the future yet that would run here.
                operation.future.completeExceptionally(new RdmaException("ibv_post_send", waiting.size()
                        + " operations already wait for room on " + connection + ": wait for some of them"));
                return;
            }
            // before it is added: if this fails, nothing has been started
            operation.starter.mustWait();
        }
        bytes += operation.starter.bytes();
        waiting.add(operation);
        startWaiting();
    }

    /** Starts what there is room for. With the lock held. */
    void startWaiting() {
        // All that wait at the end of the connection fail for the same reason.
        Exception end = null;
        while (!waiting.isEmpty() && (end != null || connection.canStart(waiting.element().room))) {
            end = end == null ? endOfConnection() : end;
            Operation<?> next = waiting.remove();
            bytes -= next.starter.bytes();
            Exception reason = end == null ? start(next) : end;
            if (reason != null) {
                next.failure = reason;
                failed.add(next);
            }
        }
        // The completion that made room may have woken those who wait for their turn too early.
        connection.wakeThoseInTurn();
    }

    /** Returns why nothing can be started any more, null if it can. */
    private @Nullable RdmaException endOfConnection() {
        try {
            connection.requireUsable();
            return null;
        } catch (RdmaException e) {
            return e;
        }
    }

    /** Starts an operation. Returns why it could not be started, null if it was. */
    private static @Nullable Exception start(Operation<?> operation) {
        try {
            operation.starter.start(operation);
            return null;
        } catch (RdmaException | RuntimeException e) {
            return e;
        } catch (Error e) {
            // Its future would never end.
            return Connection.reasonOf(e);
        }
    }

    /** Returns whether anything has not been started or reported. With the lock held. */
    boolean isWaiting() {
        return !waiting.isEmpty() || !failed.isEmpty();
    }

    boolean hasFailed() {
        return !failed.isEmpty();
    }

    /** Completes the future of one operation that could not be started; returns false if there is none. */
    boolean callOne(MixedThreadsLock lock) {
        Operation<?> next = failed.poll();
        if (next == null) {
            return false;
        }
        int holds = lock.release();
        try {
            next.future.completeExceptionally(next.failure);
        } finally {
            lock.retake(holds);
        }
        return true;
    }

    /** Posts an operation. Called with the lock held, when there is room. */
    @FunctionalInterface
    private interface Starter {
        void start(OperationHandler handler) throws RdmaException;

        /** Called before the program gets its future if there is no room yet. */
        default void mustWait() {
        }

        /** Returns how much memory it takes while it waits. */
        default long bytes() {
            return 0;
        }
    }

    /** Sends a message whose memory belongs to the program again as soon as it has its future. */
    private static final class CopiedMessage implements Starter {
        private final Connection connection;
        private MemorySegment data;

        CopiedMessage(Connection connection, MemorySegment data) {
            this.connection = connection;
            this.data = data;
        }

        @Override
        public void start(OperationHandler handler) throws RdmaException {
            connection.operations().sendCopy(data, handler);
        }

        @Override
        public void mustWait() {
            data = MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        public long bytes() {
            return data.byteSize();
        }
    }

    /** Transfers parts that are listed in an object which belongs to the program as soon as it has its future. */
    private static final class Parts implements Starter {
        private final Connection connection;
        private final SendOpcode opcode;
        private ScatterGatherList parts;
        private final @Nullable RemoteMemory remote;

        Parts(Connection connection, SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote) {
            this.connection = connection;
            this.opcode = opcode;
            this.parts = parts;
            this.remote = remote;
        }

        @Override
        public void start(OperationHandler handler) throws RdmaException {
            connection.operations().start(opcode, parts, remote, 0, handler, 0, false);
        }

        @Override
        public void mustWait() {
            parts = parts.copy();
        }
    }

    /** The result of an operation that has succeeded. */
    @FunctionalInterface
    private interface Result<T> {
        @Nullable T take();
    }

    /** An operation with its future. */
    static final class Operation<T> implements OperationHandler {
        private final GuardedFuture<T> future;
        private final Room room;
        private final Starter starter;
        private final Result<T> result;
        private @Nullable Exception failure;

        Operation(Runnable guard, Room room, Starter starter, Result<T> result) {
            this.future = new GuardedFuture<>(guard);
            this.room = room;
            this.starter = starter;
            this.result = result;
        }

        /** Returns how much memory it takes while it waits. */
        long bytes() {
            return starter.bytes();
        }

        @Override
        public void completed(Connection connection, long context, @Nullable RdmaException reason) {
            @Nullable T value = result.take();
            if (reason == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(reason);
            }
        }
    }
}
