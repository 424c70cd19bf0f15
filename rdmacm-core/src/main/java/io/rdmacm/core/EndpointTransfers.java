// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;

import io.rdmacm.verbs.AccessFlag;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.Completions;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.SendFlag;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.WorkCompletion;
import io.rdmacm.verbs.internal.Lifetime;

/**
 * The part of {@link Endpoint} that moves data: the helpers of {@code rdma_verbs.h}, which register
 * memory, post, and wait for completions.
 *
 * <p>Numbers called {@code context} come back as {@link WorkCompletion#workRequestId()}. Memory is named by its region,
 * and an offset and a length in bytes, or by a list of such parts. The posts copy nothing and allocate nothing. Sends,
 * reads and writes give a completion when their flags have {@link SendFlag#SIGNALED}, or the attributes say so for all.
 *
 * <p>All methods may be called from any thread. Posting is made for one thread a direction, and waiting for completions
 * too: others take turns.
 */
public abstract sealed class EndpointTransfers extends NativeObject permits Endpoint {
    private static final String GET_SEND = "rdma_get_send_comp";
    private static final String GET_RECEIVE = "rdma_get_recv_comp";

    EndpointTransfers(Lifetime life, long address, long size) {
        super(life, address, size);
    }

    /** What was made for the endpoint. */
    abstract EndpointResources resources();

    /** The protection domain of the attributes, else one of its own, which is made by the first call. */
    public ProtectionDomain protectionDomain() throws RdmaException {
        life().enter();
        try {
            return resources().domain();
        } finally {
            life().leave();
        }
    }

    /**
     * Makes a shared receive queue ({@code rdma_create_srq}, {@code rdma_create_srq_ex}) in its protection domain;
     * to be done before the queue pair, which takes it. It ends with this endpoint. Other queue pairs may share it.
     */
    @CFunction({"rdma_create_srq", "rdma_create_srq_ex", "rdma_destroy_srq"})
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        life().enter();
        try {
            return resources().createSharedReceiveQueue(attributes);
        } finally {
            life().leave();
        }
    }

    /**
     * Registers memory for messages ({@code rdma_reg_msgs}), in its protection domain. The region ends with this
     * endpoint, if not before.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_msgs")
    public MemoryRegion registerMessages(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read, too ({@code rdma_reg_read}). The region ends with this endpoint.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_read")
    public MemoryRegion registerRead(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write, too ({@code rdma_reg_write}). The region ends with this endpoint.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_write")
    public MemoryRegion registerWrite(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    /** Ends a registration ({@code rdma_dereg_mr}); the same as the close of the region. */
    @CFunction("rdma_dereg_mr")
    public void deregister(MemoryRegion region) throws RdmaException {
        life().ensureOpen();
        region.close();
    }

    /**
     * Posts a receive ({@code rdma_post_recv}): to the shared receive queue, if there is one. For datagrams the first
     * 40 bytes are for the route header.
     */
    @CFunction("rdma_post_recv")
    public void postReceive(long context, MemoryRegion region, long offset, int length) throws RdmaException {
        queues().postReceive(context, region, offset, length);
    }

    /** Posts a receive into several parts of memory ({@code rdma_post_recvv}). */
    @CFunction("rdma_post_recvv")
    public void postReceive(long context, ScatterGatherList list) throws RdmaException {
        queues().postReceive(context, list);
    }

    /** Posts a message ({@code rdma_post_send}). */
    @CFunction("rdma_post_send")
    public void postSend(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags)
            throws RdmaException {
        queues().postSend(context, region, offset, length, flags);
    }

    /** Posts a message of several parts of memory ({@code rdma_post_sendv}). */
    @CFunction("rdma_post_sendv")
    public void postSend(long context, ScatterGatherList list, Set<SendFlag> flags) throws RdmaException {
        queues().postSend(context, list, flags);
    }

    /** Posts a read of the peer's memory ({@code rdma_post_read}). */
    @CFunction("rdma_post_read")
    public void postRead(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            long remoteAddress, int remoteKey) throws RdmaException {
        queues().postRead(context, region, offset, length, flags, remoteAddress, remoteKey);
    }

    /** Posts a read of the peer's memory into several parts of memory ({@code rdma_post_readv}). */
    @CFunction("rdma_post_readv")
    public void postRead(long context, ScatterGatherList list, Set<SendFlag> flags, long remoteAddress, int remoteKey)
            throws RdmaException {
        queues().postRead(context, list, flags, remoteAddress, remoteKey);
    }

    /** Posts a write to the peer's memory ({@code rdma_post_write}). */
    @CFunction("rdma_post_write")
    public void postWrite(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            long remoteAddress, int remoteKey) throws RdmaException {
        queues().postWrite(context, region, offset, length, flags, remoteAddress, remoteKey);
    }

    /** Posts a write of several parts of memory to the peer's memory ({@code rdma_post_writev}). */
    @CFunction("rdma_post_writev")
    public void postWrite(long context, ScatterGatherList list, Set<SendFlag> flags, long remoteAddress, int remoteKey)
            throws RdmaException {
        queues().postWrite(context, list, flags, remoteAddress, remoteKey);
    }

    /**
     * Posts a datagram ({@code rdma_post_ud_send}), with the queue key of the port space UDP.
     *
     * @param context comes back with the completion
     * @param region open
     * @param offset in bytes
     * @param length in bytes
     * @param flags how it is sent
     * @param peer of {@link Endpoint#protectionDomain()}; for a peer that was connected to, of the address of
     *        {@link Endpoint#datagramParameters()}
     * @param peerQueuePairNumber the peer's queue pair
     */
    @CFunction("rdma_post_ud_send")
    public void postDatagram(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            AddressHandle peer, int peerQueuePairNumber) throws RdmaException {
        queues().postDatagram(context, region, offset, length, flags, peer, peerQueuePairNumber);
    }

    /**
     * Waits for the next finished send, write or read ({@code rdma_get_send_comp}): polls, arms, polls again, waits.
     *
     * @param timeout how long at most
     * @return the completion, be it a success or not
     * @throws DisconnectedException when the connection has ended, and nothing is posted here that could complete
     * @throws RdmaTimeoutException when nothing completed in time
     * @throws RdmaClosedException when the endpoint was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    @CFunction("rdma_get_send_comp")
    public WorkCompletion getSendCompletion(Duration timeout) throws RdmaException, InterruptedException {
        return inside(() -> queues().sendCompletions().take(GET_SEND, timeout));
    }

    /**
     * As {@link #getSendCompletion}, for all that have finished, into a buffer; without any allocation when some have.
     *
     * @param completions where they go, as many as fit
     * @param timeout how long at most
     * @return how many were taken, at least 1
     */
    @CFunction("rdma_get_send_comp")
    public int getSendCompletions(Completions completions, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().sendCompletions().take(completions, GET_SEND, timeout);
        } finally {
            life().leave();
        }
    }

    /** As {@link #getSendCompletion}, for the next finished receive ({@code rdma_get_recv_comp}). */
    @CFunction("rdma_get_recv_comp")
    public WorkCompletion getReceiveCompletion(Duration timeout) throws RdmaException, InterruptedException {
        return inside(() -> queues().receiveCompletions().take(GET_RECEIVE, timeout));
    }

    /** As {@link #getSendCompletions}, for finished receives. */
    @CFunction("rdma_get_recv_comp")
    public int getReceiveCompletions(Completions completions, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().receiveCompletions().take(completions, GET_RECEIVE, timeout);
        } finally {
            life().leave();
        }
    }

    private MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        life().enter();
        try {
            return resources().register(memory, access);
        } finally {
            life().leave();
        }
    }

    private EndpointQueues queues() {
        life().ensureOpen();
        EndpointQueues queues = resources().queues();
        if (queues == null) {
            throw new IllegalStateException(this + " has no queue pair, next comes: createQueuePair");
        }
        return queues;
    }

    @FunctionalInterface
    private interface Work<T> {
        T run() throws RdmaException, InterruptedException;
    }

    private <T> T inside(Work<T> work) throws RdmaException, InterruptedException {
        life().enter();
        try {
            return work.run();
        } finally {
            life().leave();
        }
    }
}
