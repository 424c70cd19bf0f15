// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.EntryLength;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * Starts the operations of a connection: turns arguments into work requests in the ring. Used with the lock of the
 * loop held, after the caller has made sure that there is room.
 */
final class Operations {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final int ATOMIC_SIZE = Long.BYTES;

    private final Connection connection;
    private final SendRing ring;
    private final ProtectionDomain domain;
    private final ConnectionCounters.Recorder counters;
    private final int inlineSize;
    private final int maxParts;
    // What this thread starts is posted when its batch ends, or together with what another thread starts.
    private @Nullable Thread batching;
    private int depth;

    Operations(Connection connection, SendRing ring, ProtectionDomain domain, ConnectionCounters.Recorder counters,
            ConnectionSettings settings) {
        this.connection = connection;
        this.ring = ring;
        this.domain = domain;
        this.counters = counters;
        this.inlineSize = settings.inlineSize();
        this.maxParts = settings.scatterGather();
    }

    /**
     * Starts an operation.
     *
     * @param opcode SEND, SEND_WITH_IMM, RDMA_WRITE, RDMA_WRITE_WITH_IMM or RDMA_READ
     * @param region the local memory
     * @param offset in the region
     * @param length in bytes
     * @param remote for remote operations, else null
     * @param remoteOffset in the remote memory
     * @param immediate for operations with an immediate value
     * @param handler to be told the result, may be null
     * @param context for the handler
     * @param awaited whether a thread waits for the operation
     * @return the number of the operation
     */
    long start(SendOpcode opcode, MemoryRegion region, long offset, long length, @Nullable RemoteMemory remote,
            long remoteOffset, int immediate, @Nullable OperationHandler handler, long context, boolean awaited)
            throws RdmaException {
        requireOwn(region);
        if (opcode == SendOpcode.RDMA_READ) {
            requireDepth();
        }
        SendRequest request = notInline(ring.next());
        setData(request, region, offset, length);
        setOpcode(request, opcode, remote == null ? 0 : remote.address() + remoteOffset,
                remote == null ? 0 : remote.key(), immediate);
        long operation = add(handler, context, null, awaited);
        if (opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_WITH_IMM) {
            counters.sent(length);
        } else {
            counters.operated(length);
        }
        return operation;
    }

    /** Starts an operation with several parts of local memory, like the other one. */
    long start(SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote, long remoteOffset,
            @Nullable OperationHandler handler, long context, boolean awaited) throws RdmaException {
        if (opcode == SendOpcode.RDMA_READ) {
            requireDepth();
        }
        SendRequest request = notInline(ring.next()).noData();
        for (int i = 0; i < parts.size(); i++) {
            request.data(i, parts.region(i), parts.offset(i), parts.length(i));
        }
        setOpcode(request, opcode, remote == null ? 0 : remote.address() + remoteOffset,
                remote == null ? 0 : remote.key(), 0);
        long operation = add(handler, context, null, awaited);
        if (opcode == SendOpcode.SEND) {
            counters.sent(parts.bytes());
        } else {
            counters.operated(parts.bytes());
        }
        return operation;
    }

    /**
     * Starts an atomic operation.
     *
     * @param region where the 8 bytes of the peer's memory go
     * @param offset in the region
     * @param remoteOffset where the 8 bytes are in the remote memory
     */
    void startAtomic(SendOpcode opcode, MemoryRegion region, long offset, RemoteMemory remote, long remoteOffset,
            long first, long second, @Nullable OperationHandler handler, long context) throws RdmaException {
        long remoteAddress = checkAtomic(region, remote, remoteOffset);
        requireDepth();
        SendRequest request = notInline(ring.next()).data(region, offset, ATOMIC_SIZE);
        if (opcode == SendOpcode.ATOMIC_CMP_AND_SWP) {
            request.compareAndSwap(remoteAddress, remote.key(), first, second);
        } else {
            request.fetchAndAdd(remoteAddress, remote.key(), first);
        }
        add(handler, context, null, true);
        counters.operated(ATOMIC_SIZE);
    }

    /** Copies a message into a buffer and sends it. The handler may be null. */
    void sendCopy(MemorySegment data, @Nullable OperationHandler handler) throws RdmaException {
        RegisteredSlice slice = ring.takeSlice();
        boolean sent = false;
        try {
            MemorySegment.copy(data, 0, slice.memory(), 0, data.byteSize());
            sent = true;
        } finally {
            if (!sent) {
                ring.giveBack(slice);
            }
        }
        sendSlice(slice, (int) data.byteSize(), false, 0, handler);
    }

    /** Copies a message into a buffer and sends it. */
    void sendCopy(byte[] data) throws RdmaException {
        RegisteredSlice slice = ring.takeSlice();
        MemorySegment.copy(data, 0, slice.memory(), ValueLayout.JAVA_BYTE, 0, data.length);
        sendSlice(slice, data.length, false, 0, null);
    }

    /** Sends what is in a buffer, which belongs to the ring from now on, even if the device refuses it. */
    void sendSlice(RegisteredSlice slice, int length, boolean withImmediate, int immediate,
            @Nullable OperationHandler handler)
            throws RdmaException {
        SendRequest request = ring.next();
        setData(request, slice.region(), slice.offset(), length);
        if (inlineSize > 0) {
            request.inline(length <= inlineSize);
        }
        setOpcode(request, withImmediate ? SendOpcode.SEND_WITH_IMM : SendOpcode.SEND, 0, 0, immediate);
        add(handler, 0, slice, false);
        counters.sent(length);
    }

    /** Sends what is in a buffer, or nothing, as a message of this library and not of the program. */
    void sendControl(@Nullable RegisteredSlice slice, int length) throws RdmaException {
        SendRequest request = notInline(ring.next());
        if (slice == null) {
            request.noData();
        } else {
            request.data(slice.region(), slice.offset(), length);
        }
        request.sendWithImmediate(LargeMessages.IMMEDIATE);
        add(null, 0, slice, true);
    }

    /**
     * Makes sure that the last operation will raise a completion, which is that of all before it: writes no bytes to
     * the peer, for which no memory of the peer is needed.
     */
    void signalLast() throws RdmaException {
        if (!ring.isEmpty() && !ring.isLastSignaled()) {
            writeNothing();
        }
    }

    /** Makes the peer's device acknowledge something, if nothing is in flight that it will acknowledge. */
    void keepAlive() throws RdmaException {
        if (ring.free() > 0 && (ring.isEmpty() || !ring.isLastSignaled())) {
            writeNothing();
        }
    }

    private void writeNothing() throws RdmaException {
        notInline(ring.next()).rdmaWrite(0, 0).noData();
        add(null, 0, null, true);
    }

    /** Posts what was started, in a batch as well. */
    void post() throws RdmaException {
        if (ring.hasUnposted()) {
            ring.post(false);
        }
    }

    /** Begins a batch of this thread. While another thread has one, what this one starts is posted at once. */
    void beginBatch() {
        if (batching == null || batching == Thread.currentThread()) {
            batching = Thread.currentThread();
            depth++;
        }
    }

    /** Ends a batch. Operations that cannot be posted have failed then. */
    void endBatch() {
        if (batching != Thread.currentThread()) {
            return;
        }
        depth--;
        if (depth == 0) {
            batching = null;
            try {
                post();
            } catch (RdmaException e) {
                connection.broken(e);
            }
        }
    }

    private long add(@Nullable OperationHandler handler, long context, @Nullable RegisteredSlice slice, boolean signal)
            throws RdmaException {
        long operation = ring.add(handler, context, slice, signal);
        if (batching != Thread.currentThread()) {
            try {
                ring.post(true);
            } catch (RdmaException e) {
                if (ring.last() < operation) {
                    throw e;
                }
                // It has failed together with others, and so its handler is told.
                connection.broken(e);
            }
        }
        return operation;
    }

    /** Undoes what a message may have set that used the request before. */
    private SendRequest notInline(SendRequest request) {
        return inlineSize > 0 ? request.inline(false) : request;
    }

    private static void setData(SendRequest request, MemoryRegion region, long offset, long length) {
        request.data(region, offset, length);
        if (length == 0) {
            request.noData();
        }
    }

    private static void setOpcode(SendRequest request, SendOpcode opcode, long remoteAddress, int remoteKey,
            int immediate) {
        switch (opcode) {
            case SEND -> request.send();
            case SEND_WITH_IMM -> request.sendWithImmediate(immediate);
            case RDMA_WRITE -> request.rdmaWrite(remoteAddress, remoteKey);
            case RDMA_WRITE_WITH_IMM -> request.rdmaWriteWithImmediate(remoteAddress, remoteKey, immediate);
            case RDMA_READ -> request.rdmaRead(remoteAddress, remoteKey);
            default -> throw new IllegalArgumentException(opcode.toString());
        }
    }

    /** Checks the arguments of an operation that may be started later. */
    void check(SendOpcode opcode, MemoryRegion region, long offset, long length, @Nullable RemoteMemory remote,
            long remoteOffset) {
        requireOwn(region);
        Objects.checkFromIndexSize(offset, EntryLength.require(length), region.length());
        if (opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_WITH_IMM) {
            connection.requireTaken(length);
        } else {
            if (opcode == SendOpcode.RDMA_READ && length > 0) {
                requireWritable(region);
            }
            Objects.checkFromIndexSize(remoteOffset, length, Objects.requireNonNull(remote, "remote").length());
        }
    }

    /** Checks that what comes from the peer may be written to a region: the device would end the connection. */
    private void requireWritable(MemoryRegion region) {
        if (VERBS.isReadOnlyForDevice(region)) {
            throw new IllegalArgumentException(region + " lacks LOCAL_WRITE, which reads and atomic operations need,"
                    + " on " + connection);
        }
    }

    /** Checks the arguments of an operation with several parts of local memory. */
    void check(SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote, long remoteOffset) {
        if (parts.size() > maxParts) {
            throw new IllegalArgumentException(parts.size() + " parts of memory on " + connection + ", whose settings"
                    + " allow " + maxParts + ": set scatterGather");
        }
        for (int i = 0; i < parts.size(); i++) {
            requireOwn(parts.region(i));
            if (opcode == SendOpcode.RDMA_READ) {
                requireWritable(parts.region(i));
            }
        }
        if (opcode == SendOpcode.SEND) {
            connection.requireTaken(parts.bytes());
        } else {
            Objects.checkFromIndexSize(remoteOffset, parts.bytes(), Objects.requireNonNull(remote, "remote").length());
        }
    }

    /** Checks the arguments of an atomic operation, and returns the address of what it changes. */
    long checkAtomic(MemoryRegion region, RemoteMemory remote, long remoteOffset) {
        requireOwn(region);
        requireWritable(region);
        return checkAtomic(remote, remoteOffset);
    }

    /** Checks what an atomic operation changes, and returns its address. */
    static long checkAtomic(RemoteMemory remote, long remoteOffset) {
        long remoteAddress = remote.addressOf(remoteOffset, ATOMIC_SIZE);
        if (remoteAddress % ATOMIC_SIZE != 0) {
            throw new IllegalArgumentException("the remote address of an atomic operation must be a multiple of 8: 0x"
                    + Long.toHexString(remoteAddress));
        }
        return remoteAddress;
    }

    /** Checks that reads and atomic operations may be in flight: the device would wait for that for ever. */
    private void requireDepth() throws RdmaException {
        if (connection.initiatorDepth() == 0) {
            throw new RdmaException("ibv_post_send", "reads and atomic operations need parameters with initiatorDepth"
                    + " of at least 1, and responderResources of the peer: one of " + connection + " is 0");
        }
    }

    void requireOwn(MemoryRegion region) {
        if (region.protectionDomain() != domain) {
            throw new IllegalArgumentException(region + " belongs to another protection domain than " + connection
                    + ": register memory in connection.protectionDomain()");
        }
    }
}
