// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.jspecify.annotations.Nullable;

/**
 * <b>Experimental.</b> A reliable connection that writes to or reads from the peer's memory without a call into C:
 * libmlx5 writes one work queue entry, this class copies it into the whole send queue, changes in place what differs
 * between requests, rings the doorbell, and reads completions where the card writes them
 * ({@code mlx5dv_init_obj}, mlx5dv_init_obj(3)).
 *
 * <pre>{@code
 * DirectQueuePair pair = DirectQueuePair.create(domain, 64, 64);
 * pair.modify(...); // to INIT, RTR and RTS, as any queue pair
 * pair.writeFrom(region, remoteKey);
 * pair.post(id, 0, 64, remoteAddress);
 * long[] ids = new long[16];
 * int completed = pair.poll(ids);
 * }</pre>
 *
 * <p>It has its own queues, which nothing else uses, and takes no receives. Each request moves one part of one region,
 * and completes. Only on x86-64: elsewhere, Java has no barrier that orders stores to a device.
 *
 * <p><b>Not run on a card.</b> All methods may be called by any thread, and {@link #close()} at any time; posts and
 * polls are optimised for a single thread, as those of other queues.
 */
public final class DirectQueuePair implements AutoCloseable {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final String POST = "DirectQueuePair.post";

    // the entry: struct mlx5_wqe_ctrl_seg, mlx5_wqe_raddr_seg and mlx5_wqe_data_seg
    private static final int REMOTE_ADDRESS = 16;
    private static final int LENGTH = 32;
    private static final int ADDRESS = 40;
    private static final int ENTRY = 48;
    private static final int INDEX_SHIFT = 8;
    private static final int INDEX = 0xffff;
    // the doorbell record of a queue pair: receives, then sends
    private static final int SENDS = 4;

    private final QueuePair pair;
    private final CompletionQueue queue;
    private final SendBatch batch;
    private final Lifetime life;
    private final BiasedLock lock = new BiasedLock("DirectQueuePair");

    private final long entries;
    private final int stride;
    private final long doorbellRecord;
    private final long doorbell;
    private final long[] ids;
    private final int mostOutstanding;
    private final DirectCompletions completions;

    // guarded by the lock
    private @Nullable MemoryRegion region;
    private long start;
    private long bytes;
    private long first;
    private int limit;
    private int posted;
    private int rung;
    private int completed;

    private DirectQueuePair(QueuePair pair, CompletionQueue queue, Lifetime life) throws RdmaException {
        this.pair = pair;
        this.queue = queue;
        this.life = life;
        RawQueues.Pair queues = RawQueues.of(pair);
        entries = queues.send().address();
        stride = queues.sendStride();
        doorbellRecord = queues.doorbellRecord().address() + SENDS;
        doorbell = queues.register().address();
        ids = new long[queues.sendEntries()];
        mostOutstanding = Math.min(pair.capabilities().maxSendRequests(), queue.capacity());
        // An asynchronous event hands both to the program, which must not use them.
        batch = VERBS.useDirectly(pair, DirectQueuePair.class);
        completions = new DirectCompletions(RawQueues.of(queue), pair.number());
        int number = pair.number();
        life.describe(() -> "0x" + Integer.toHexString(number));
        LeakDetector.watch(this, life);
    }

    /**
     * Creates a queue pair of type RC with a completion queue of its own, in the state RESET.
     *
     * @param domain the protection domain that it will belong to
     * @param sends how many requests may be outstanding, at least 1
     * @param completions the entries of its completion queue, at least as many
     * @return the new queue pair
     * @throws IllegalArgumentException if a number is too small
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if the device is not one of mlx5, or the processor not an x86-64
     * @throws RdmaException EINVAL if the device does not support so many; ENOMEM
     */
    public static DirectQueuePair create(ProtectionDomain domain, int sends, int completions) throws RdmaException {
        if (sends < 1 || completions < sends) {
            throw new IllegalArgumentException("at least 1 send, and as many completions, not " + sends + " and "
                    + completions);
        }
        if (!System.getProperty("os.arch").equals("amd64")) {
            throw Failures.of("mlx5dv_init_obj", Rdma.EOPNOTSUPP(), "doorbells can be rung from Java only on x86-64");
        }
        try (Parts parts = new Parts()) {
            CompletionQueue queue = domain.context().createCompletionQueue(completions);
            parts.add(queue, CompletionQueue::close, VERBS.lifeOf(queue));
            QueuePair pair = createPair(domain, queue, sends);
            parts.add(pair, QueuePair::close, VERBS.lifeOf(pair));
            return parts.complete(Lifetime.make(DirectQueuePair.class,
                    List.of(VERBS.lifeOf(pair), VERBS.lifeOf(queue)),
                    (life, none) -> new DirectQueuePair(pair, queue, life)));
        }
    }

    private static QueuePair createPair(ProtectionDomain domain, CompletionQueue queue, int sends)
            throws RdmaException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(sends).maxSendScatterGather(1).maxReceiveRequests(0).maxReceiveScatterGather(0)
                .sendOperations(List.of(SendOperation.RDMA_WRITE, SendOperation.RDMA_READ)).build();
        // What is read goes into the region, also if it would fit into the completion.
        return Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.of(attributes)
                .flags(Mlx5QueuePairFlag.DISABLE_SCATTER_TO_CQE));
    }

    /** {@return the number by which the peer addresses this queue pair ({@code ibv_qp.qp_num})} */
    public int number() {
        return pair.number();
    }

    /**
     * Modifies the queue pair ({@code ibv_modify_qp}), as {@link QueuePair#modify}.
     *
     * @param attributes the attributes to set
     * @throws IllegalArgumentException if they lead back to RESET, from where the queues would start anew
     * @throws RdmaException as for {@link QueuePair#modify}
     */
    public void modify(QueuePairAttributes attributes) throws RdmaException {
        if (attributes.has(QueuePairAttribute.STATE) && attributes.state() == QueuePairState.RESET) {
            throw new IllegalArgumentException("not back to RESET: close this queue pair, and create another one");
        }
        pair.modify(attributes);
    }

    /**
     * From now on, requests write to the peer's memory ({@code IBV_WR_RDMA_WRITE}).
     *
     * @param from the region that they take data from, of the protection domain of this queue pair (with one of
     *        another domain, they fail with LOC_PROT_ERR); it cannot be closed before this queue pair, unless another
     *        one takes its place, and must not be reregistered
     * @param remoteKey the key of the peer's memory
     * @throws IllegalStateException if the queue pair is closed or not in RTS, a request is outstanding, or the region
     *         is closed
     * @throws RdmaException if the state cannot be queried
     */
    public void writeFrom(MemoryRegion from, int remoteKey) throws RdmaException {
        start(from, batch -> batch.rdmaWrite(0, remoteKey, from, 0, 1));
    }

    /**
     * From now on, requests read from the peer's memory ({@code IBV_WR_RDMA_READ}).
     *
     * @param into the region that they put data into, registered with LOCAL_WRITE; for the rest see {@link #writeFrom}
     * @param remoteKey the key of the peer's memory
     * @throws IllegalStateException as for {@link #writeFrom}
     * @throws RdmaException if the state cannot be queried
     */
    public void readInto(MemoryRegion into, int remoteKey) throws RdmaException {
        start(into, batch -> batch.rdmaRead(0, remoteKey, into, 0, 1));
    }

    /** Adds a request to a batch. */
    @FunctionalInterface
    private interface Request {
        void addTo(SendBatch batch);
    }

    private void start(MemoryRegion with, Request request) throws RdmaException {
        Bias bias = lock.enterExclusive();
        try {
            if (posted != completed) {
                throw new IllegalStateException("requests are outstanding: " + (posted - completed));
            }
            QueuePairState state = pair.state();
            if (state != QueuePairState.RTS) {
                throw new IllegalStateException("the queue pair is in " + state + ", not in RTS");
            }
            // If this fails, the first slot is neither as it was nor as it should be.
            limit = 0;
            // An entry that libmlx5 has written, but not posted, stays in the first slot.
            VERBS.start(batch);
            try (batch) {
                request.addTo(batch.id(0));
            }
            take(with);
            for (int slot = 1; slot < ids.length; slot++) {
                Memory.copy(entries, entries + (long) slot * stride, ENTRY);
            }
            first = Memory.getLong(entries);
            start = Long.reverseBytes(Memory.getLong(entries + ADDRESS));
            bytes = with.length();
            limit = mostOutstanding;
        } finally {
            lock.leave(bias);
        }
    }

    /** Keeps a region open, in place of the one before. */
    private void take(MemoryRegion next) {
        if (next != region) {
            life.addParent(VERBS.lifeOf(next));
            if (region != null) {
                life.removeParent(VERBS.lifeOf(region));
            }
            region = next;
        }
    }

    /**
     * Posts a request, and those that were appended before it.
     *
     * @param id what {@link #poll} returns when the request has completed
     * @param offset where the local data begins in the region, in bytes
     * @param length the number of bytes, at least 1 and less than 2 GiB
     * @param remoteAddress where the data begins in the peer's memory
     * @throws IndexOutOfBoundsException if the data is not in the region
     * @throws IllegalArgumentException if the length is 0, or 2 GiB or more
     * @throws IllegalStateException if the queue pair is closed, or neither {@link #writeFrom} nor {@link #readInto}
     *         has succeeded
     * @throws RdmaException ENOMEM if the queue is full: poll first
     */
    public void post(long id, long offset, long length, long remoteAddress) throws RdmaException {
        Bias bias = lock.enter();
        try {
            write(id, offset, length, remoteAddress);
            ringDoorbell();
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * Appends a request, which is executed once {@link #ring} is called. Parameters and exceptions are those of
     * {@link #post}.
     *
     * @param id what {@link #poll} returns when the request has completed
     * @param offset where the local data begins in the region, in bytes
     * @param length the number of bytes, at least 1 and less than 2 GiB
     * @param remoteAddress where the data begins in the peer's memory
     * @throws RdmaException ENOMEM if the queue is full
     */
    public void append(long id, long offset, long length, long remoteAddress) throws RdmaException {
        Bias bias = lock.enter();
        try {
            write(id, offset, length, remoteAddress);
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * Posts what was appended, if anything was.
     *
     * @throws IllegalStateException if the queue pair is closed
     */
    public void ring() {
        Bias bias = lock.enter();
        try {
            if (rung != posted) {
                ringDoorbell();
            }
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * Takes completions, without waiting.
     *
     * @param taken is filled with the ids of the requests that have completed, in their order
     * @return the number of completions, 0 if there were none
     * @throws IllegalStateException if the queue pair is closed
     * @throws WorkCompletionException if the next request has failed, which is then taken too. The queue pair is in
     *         the state ERR, and all requests after it fail with WR_FLUSH_ERR
     */
    public int poll(long[] taken) throws WorkCompletionException {
        Bias bias = lock.enter();
        try {
            int count = 0;
            // A request that is not rung cannot complete.
            int most = Math.min(taken.length, rung - completed);
            while (count < most) {
                int counter = completions.next();
                if (counter < 0) {
                    break;
                }
                long id = ids[counter & (ids.length - 1)];
                if (completions.failed()) {
                    if (count > 0) {
                        // told by the next poll, after those that were taken
                        break;
                    }
                    WorkCompletion failure = completions.failure(id);
                    completed++;
                    completions.advance();
                    completions.finish();
                    throw new WorkCompletionException(failure);
                }
                taken[count++] = id;
                completed++;
                completions.advance();
            }
            if (count > 0) {
                completions.finish();
            }
            return count;
        } finally {
            lock.leave(bias);
        }
    }

    private void write(long id, long offset, long length, long remoteAddress) throws RdmaException {
        int next = posted;
        if (next - completed >= limit) {
            throw full();
        }
        Objects.checkFromIndexSize(offset, length, bytes);
        if (length == 0 || length > Integer.MAX_VALUE) {
            // The card counts with 31 bits, and takes 0 for 2 GiB.
            throw new IllegalArgumentException("requests move at least 1 byte and less than 2 GiB, not " + length);
        }
        int slot = next & (ids.length - 1);
        ids[slot] = id;
        long entry = entries + (long) slot * stride;
        Memory.putInt(entry, (int) control(next));
        Memory.putLong(entry + REMOTE_ADDRESS, Long.reverseBytes(remoteAddress));
        Memory.putInt(entry + LENGTH, NetworkOrder.toNetwork((int) length));
        Memory.putLong(entry + ADDRESS, Long.reverseBytes(start + offset));
        posted = next + 1;
    }

    /** Returns the first 8 bytes of an entry: those of the one from libmlx5, with another index. */
    private long control(int index) {
        return first & ~((long) INDEX << INDEX_SHIFT) | Short.toUnsignedLong(Short.reverseBytes((short) index))
                << INDEX_SHIFT;
    }

    private RdmaException full() {
        if (limit == 0) {
            throw new IllegalStateException("neither writeFrom nor readInto has succeeded");
        }
        return Failures.of(POST, Rdma.ENOMEM(), "the send queue is full, outstanding: " + limit);
    }

    private void ringDoorbell() {
        int last = posted;
        rung = last;
        // The entries before the record that tells their number, as the card may read both at any time.
        VarHandle.releaseFence();
        Memory.putInt(doorbellRecord, NetworkOrder.toNetwork(last & INDEX));
        // The register may combine writes: nothing in Java but a full fence orders and flushes such stores.
        VarHandle.fullFence();
        Memory.putLong(doorbell, control(last - 1));
        VarHandle.fullFence();
    }

    /**
     * Destroys the queues. Requests that have not completed may have been executed or not.
     *
     * @throws RdmaException if the kernel does not destroy them; then it can be tried again
     */
    @Override
    public void close() throws RdmaException {
        life.close(() -> { }, lock::close);
        pair.close();
        queue.close();
    }

    @Override
    public String toString() {
        return life + (life.isOpen() ? "" : " (closed)");
    }
}
