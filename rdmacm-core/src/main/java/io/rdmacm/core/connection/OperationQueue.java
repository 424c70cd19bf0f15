// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * Operations of a {@link Connection} that never wait, call an {@link OperationHandler} when they have finished, and
 * allocate nothing.
 *
 * <p>All methods return false, and do nothing, while the queue is full: there can be as many operations as
 * {@link ConnectionSettings#sendBuffers()} and {@link ConnectionSettings#operations()} together until their handlers
 * have been called. {@link ConnectionHandler#onWritable} is called when there is room again. Each operation is handed
 * to the device at once, unless it is started in a {@link #batch} or by a handler.
 *
 * <p>All methods may be called from any thread, and throw an {@link RdmaException}, as described in {@link Connection},
 * if the connection has ended or the device refuses the operation; the handler is not called then. An
 * IndexOutOfBoundsException says that the offset and the length are not within the region, or not within the remote
 * memory, an IllegalArgumentException that the region belongs to another protection domain than
 * {@link Connection#protectionDomain()}. The memory must not be changed, and the region not be closed, before the
 * handler is called.
 *
 * <p>The handler of a send or a write may be null if the program learns in another way that the memory can be used
 * again: from the answer of the peer, or from the end of a later operation, because they end in the order in which they
 * were started. Most of these operations raise no completion ({@code IBV_SEND_SIGNALED} is not set). Their failure ends
 * the connection, as every failure does.
 */
public final class OperationQueue {
    private final Connection connection;

    /** Starts operations that are handed to the device together. */
    @FunctionalInterface
    public interface Batch {
        /**
         * Starts the operations.
         *
         * @throws RdmaException when one of them cannot be started
         */
        void run() throws RdmaException;
    }

    OperationQueue(Connection connection) {
        this.connection = connection;
    }

    /** {@return how many operations can be started at the moment; 0 if the connection has ended} */
    public int free() {
        return connection.freeOperations();
    }

    /**
     * Starts operations together: those that the task starts are handed to the device when it returns, by one call.
     * Sends of other threads may be among them. A method that waits hands over what was started before.
     *
     * @param task starts operations of this queue
     * @throws RdmaException that of the task; what it started before is handed over
     */
    public void batch(Batch task) throws RdmaException {
        Objects.requireNonNull(task, "task");
        connection.batch(task);
    }

    /**
     * Sends a copy of a message ({@code IBV_WR_SEND}). There is no handler, because the memory can be reused at once.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes
     * @return false if the queue is full or all send buffers are in use
     * @throws IllegalArgumentException when the message is too long
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean send(MemorySegment data) throws RdmaException {
        return connection.trySend(data);
    }

    /**
     * Sends part of a region as a message ({@code IBV_WR_SEND}), or announces a
     * {@linkplain ConnectionSettings.Builder#largeMessages large} one, for which a small object is allocated.
     *
     * @param region a region of {@link Connection#protectionDomain()}; for a large message with
     *        {@link io.rdmacm.verbs.work.AccessFlag#REMOTE_READ}
     * @param offset where the message is in the region, in bytes
     * @param length the length in bytes
     * @param handler told when the peer's device has acknowledged the message, or the peer has read the large one,
     *        which may be after later operations; may be null
     * @param context passed to the handler
     * @return false if the queue is full, or the peer has no place for another large message
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean send(MemoryRegion region, long offset, long length, @Nullable OperationHandler handler, long context)
            throws RdmaException {
        if (connection.large().areFor(length)) {
            return connection.tryAnnounce(region, offset, length, handler, context);
        }
        return connection.tryOperate(SendOpcode.SEND, region, offset, length, null, 0, 0, handler, context);
    }

    /**
     * Sends part of a region as a message with an immediate value ({@code IBV_WR_SEND_WITH_IMM}).
     *
     * @param region a region of {@link Connection#protectionDomain()}
     * @param offset where the message is in the region, in bytes
     * @param length the length in bytes
     * @param immediate the value, in the byte order of this machine
     * @param handler told when the peer's device has acknowledged the message; may be null
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean sendWithImmediate(MemoryRegion region, long offset, long length, int immediate,
            @Nullable OperationHandler handler, long context) throws RdmaException {
        connection.large().requireOther(immediate);
        return connection.tryOperate(SendOpcode.SEND_WITH_IMM, region, offset, length, null, 0, immediate, handler,
                context);
    }

    /**
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}).
     *
     * @param local the region to read into, with {@link io.rdmacm.verbs.work.AccessFlag#LOCAL_WRITE}
     * @param offset where the data goes in the region, in bytes
     * @param length how many bytes to read, less than 2 GiB
     * @param remote the peer's memory to read from
     * @param remoteOffset where to read in it, in bytes
     * @param handler told when the data has arrived
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean read(MemoryRegion local, long offset, long length, RemoteMemory remote, long remoteOffset,
            OperationHandler handler, long context) throws RdmaException {
        Objects.requireNonNull(handler, "handler");
        return connection.tryOperate(SendOpcode.RDMA_READ, local, offset, length, remote, remoteOffset, 0,
                handler, context);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}).
     *
     * @param local the region to write from
     * @param offset where the data is in the region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to
     * @param remoteOffset where to write in it, in bytes
     * @param handler told when the peer's device has acknowledged the write; may be null
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean write(MemoryRegion local, long offset, long length, RemoteMemory remote, long remoteOffset,
            @Nullable OperationHandler handler, long context) throws RdmaException {
        return connection.tryOperate(SendOpcode.RDMA_WRITE, local, offset, length, remote, remoteOffset, 0,
                handler, context);
    }

    /**
     * Writes to the peer's memory and tells the peer ({@code IBV_WR_RDMA_WRITE_WITH_IMM}).
     *
     * @param local the region to write from
     * @param offset where the data is in the region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to
     * @param remoteOffset where to write in it, in bytes
     * @param immediate the value for the peer, in the byte order of this machine
     * @param handler told when the peer's device has acknowledged the write; may be null
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean writeWithImmediate(MemoryRegion local, long offset, long length, RemoteMemory remote,
            long remoteOffset, int immediate, @Nullable OperationHandler handler, long context) throws RdmaException {
        return connection.tryOperate(SendOpcode.RDMA_WRITE_WITH_IMM, local, offset, length, remote, remoteOffset,
                immediate, handler, context);
    }

    /**
     * Sends several parts of memory as one message ({@code IBV_WR_SEND}).
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @param handler told when the peer's device has acknowledged the message; may be null
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws IllegalArgumentException when there are too many parts
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean send(ScatterGatherList parts, @Nullable OperationHandler handler, long context)
            throws RdmaException {
        return connection.tryOperate(SendOpcode.SEND, parts, null, 0, handler, context);
    }

    /**
     * Reads the peer's memory into several parts of local memory ({@code IBV_WR_RDMA_READ}).
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @param remote the peer's memory to read from
     * @param remoteOffset where to read in it, in bytes
     * @param handler told when the data has arrived
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws IllegalArgumentException when there are too many parts
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean read(ScatterGatherList parts, RemoteMemory remote, long remoteOffset, OperationHandler handler,
            long context) throws RdmaException {
        Objects.requireNonNull(handler, "handler");
        return connection.tryOperate(SendOpcode.RDMA_READ, parts, remote, remoteOffset, handler, context);
    }

    /**
     * Writes several parts of local memory to the peer's memory ({@code IBV_WR_RDMA_WRITE}).
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()}; the list itself can be reused at once
     * @param remote the peer's memory to write to
     * @param remoteOffset where to write in it, in bytes
     * @param handler told when the peer's device has acknowledged the write; may be null
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws IllegalArgumentException when there are too many parts
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean write(ScatterGatherList parts, RemoteMemory remote, long remoteOffset,
            @Nullable OperationHandler handler, long context) throws RdmaException {
        return connection.tryOperate(SendOpcode.RDMA_WRITE, parts, remote, remoteOffset, handler, context);
    }

    /**
     * Compares 8 bytes of the peer's memory with a value, and if they are equal, replaces them
     * ({@code IBV_WR_ATOMIC_CMP_AND_SWP}).
     *
     * @param local the region with LOCAL_WRITE where the value before goes, 8 bytes, in the byte order of the peer's
     *        machine
     * @param offset where it goes in the region, in bytes
     * @param remote the peer's memory
     * @param remoteOffset where the 8 bytes are in it
     * @param expected the value to compare with
     * @param replacement the new value
     * @param handler told when the value before has arrived
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws IllegalArgumentException when the address is not a multiple of 8
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean compareAndSwap(MemoryRegion local, long offset, RemoteMemory remote, long remoteOffset,
            long expected, long replacement, OperationHandler handler, long context) throws RdmaException {
        return connection.tryAtomic(SendOpcode.ATOMIC_CMP_AND_SWP, local, offset, remote, remoteOffset, expected,
                replacement, handler, context);
    }

    /**
     * Adds to 8 bytes of the peer's memory ({@code IBV_WR_ATOMIC_FETCH_AND_ADD}).
     *
     * @param local the region with LOCAL_WRITE where the value before goes, 8 bytes, in the byte order of the peer's
     *        machine
     * @param offset where it goes in the region, in bytes
     * @param remote the peer's memory
     * @param remoteOffset where the 8 bytes are in it
     * @param summand the value to add
     * @param handler told when the value before has arrived
     * @param context passed to the handler
     * @return false if the queue is full
     * @throws IllegalArgumentException when the address is not a multiple of 8
     * @throws RdmaException when the connection has ended or the device refuses the operation
     */
    public boolean fetchAndAdd(MemoryRegion local, long offset, RemoteMemory remote, long remoteOffset, long summand,
            OperationHandler handler, long context) throws RdmaException {
        return connection.tryAtomic(SendOpcode.ATOMIC_FETCH_AND_ADD, local, offset, remote, remoteOffset, summand,
                0, handler, context);
    }
}
