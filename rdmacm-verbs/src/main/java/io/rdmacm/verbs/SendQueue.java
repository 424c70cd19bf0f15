// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.jspecify.annotations.Nullable;

/** The send queue of a queue pair: admits one thread at a time, and checks what it posts. */
final class SendQueue extends BiasedLock {
    /** The check level of a queue that checks all requests. */
    static final int NONE_UNCHECKED = -1;

    private final boolean userSpace;
    private final int maxScatterGather;
    private final int maxInlineData;
    private final ProtectionDomain domain;
    private final boolean datagrams;
    private final boolean softIwarp;
    private final int maxTsoHeader;
    private final Lifetime life;
    // null until the first one is started
    private volatile @Nullable SendBatch batch;

    /**
     * Creates the queue.
     *
     * @param userSpace whether a post never enters the kernel
     * @param attributes the attributes with which the queue pair was created
     * @param addressing how requests name their destination
     * @param capabilities the actual sizes of the queue pair
     * @param domain the protection domain of the queue pair
     * @param softIwarp whether the device is one of SoftiWARP
     * @param life the life of the queue pair, for messages
     */
    SendQueue(boolean userSpace, QueuePairInitAttributes attributes, Addressing addressing,
            QueuePairCapabilities capabilities, ProtectionDomain domain, boolean softIwarp, Lifetime life) {
        super("QueuePair");
        this.userSpace = userSpace;
        this.maxScatterGather = capabilities.maxSendScatterGather();
        this.maxInlineData = capabilities.maxInlineData();
        this.domain = domain;
        this.softIwarp = softIwarp;
        this.datagrams = addressing == Addressing.DATAGRAM;
        this.maxTsoHeader = attributes.maxTsoHeader();
        this.life = life;
    }

    /**
     * Sets the batch of the queue, unless it already has one. Called with the lock held.
     *
     * @return the batch that it now has
     */
    SendBatch setBatch(SendBatch created) {
        SendBatch set = batch;
        if (set == null) {
            created.begin();
            set = created;
            batch = set;
        }
        return set;
    }

    /** Returns the batch of the queue; null if there is none yet. */
    @Nullable SendBatch batch() {
        return batch;
    }

    boolean isInUserSpace() {
        return userSpace;
    }

    /** Checks that no batch is open. A post would have to wait for it. Called with the lock held. */
    void requireNoBatch() {
        SendBatch other = batch;
        if (other != null) {
            other.requireClosed();
        }
    }

    void requireOpen() {
        life.ensureOpen();
    }

    /** Forgets the batch, because the queue pair is gone. */
    void endBatch() {
        if (batch != null) {
            batch.end();
        }
    }

    /** Aborts the batch if it is open. Called with the lock held or closed. */
    void abortBatch() {
        if (batch != null) {
            batch.abortOpen();
        }
    }

    @Override
    public String toString() {
        return life.toString();
    }

    private static void beginBinds(SendRequests block, int first, int end) {
        int begun = first;
        try {
            while (begun < end) {
                block.get(begun).beginBind();
                begun++;
            }
        } finally {
            if (begun < end) {
                endBinds(block, first, begun, first);
            }
        }
    }

    /** Ends binds in reverse order, so that each one that was not posted restores what preceded it. */
    static void endBinds(SendRequests block, int first, int end, int failed) {
        for (int i = end - 1; i >= first; i--) {
            block.get(i).endBind(i < failed);
        }
    }

    /** Returns up to which check level requests need no {@link #prepare}, as long as there is no batch. */
    int uncheckedLevel() {
        return datagrams || softIwarp ? NONE_UNCHECKED : maxScatterGather;
    }

    /** Checks a request that is about to be posted, and begins its bind. Called with the lock held. */
    void prepare(SendRequest request) throws RdmaUnsupportedException {
        requireNoBatch();
        check(request);
        request.beginBind();
    }

    /**
     * Checks requests that are about to be posted, and begins their binds. Called with the lock held.
     *
     * @return whether any of them binds a memory window, so that {@link #endBinds} must be called
     */
    boolean prepare(SendRequests block, int first, int count) throws RdmaUnsupportedException {
        requireNoBatch();
        int end = first + count;
        boolean binds = false;
        for (int i = block.firstUnchecked(first, end, domain.posts(), uncheckedLevel(), maxInlineData); i < end; i++) {
            SendRequest request = block.get(i);
            check(request);
            binds |= request.bindsWindow();
        }
        if (binds) {
            beginBinds(block, first, end);
        }
        return binds;
    }

    private void check(SendRequest request) throws RdmaUnsupportedException {
        if (softIwarp && request.exceedsIwarp()) {
            throw exceedsIwarp(Rdma.EOPNOTSUPP(), "");
        }
        int entries = request.entries();
        if (softIwarp && entries > 1 && request.isRead()) {
            throw tooMany(entries, "read of a SoftiWARP device", 1);
        }
        if (entries > maxScatterGather) {
            throw tooMany(entries, "queue pair", maxScatterGather);
        }
        request.checkInline(entries, maxInlineData, domain);
        if (datagrams) {
            request.checkDestination(domain);
        }
        request.checkBind(domain);
        request.checkTso(maxTsoHeader);
    }

    static RdmaUnsupportedException exceedsIwarp(int errno, String detail) {
        String function = ContextOps.POST_SEND.name();
        String message = Failures.message(function, errno, detail)
                + ": this iWARP device has neither immediate values nor atomic operations nor memory windows";
        return new RdmaUnsupportedException(function, errno, Errno.name(errno), message);
    }

    static IllegalArgumentException tooMany(int entries, String kind, int limit) {
        return new IllegalArgumentException("the work request has " + entries + " scatter/gather entries; the " + kind
                + " allows " + limit);
    }

    static void requireRange(int first, int count, int capacity) {
        if (count < 1) {
            throw new IllegalArgumentException("at least one work request must be posted, not " + count);
        }
        Objects.checkFromIndexSize(first, count, capacity);
    }

    /**
     * Returns the index of the request that C has refused, and forgets it. It is the first one if the driver does not
     * say: rxe reports none if the request was accepted, but not the doorbell.
     *
     * @param refusedAddress where C writes the address of the request
     * @param block the address of the block
     * @param structSize the size of each request
     * @param first the index of the first request that was posted
     * @param count the number of requests that were posted together
     */
    static int refused(long refusedAddress, long block, long structSize, int first, int count) {
        long index = (Memory.getLong(refusedAddress) - block) / structSize;
        Memory.putLong(refusedAddress, 0);
        return index > first && index < first + count ? (int) index : first;
    }

    static WorkRequestException refused(String function, int error, int index, Lifetime life) {
        // libmthca returns -1. What else it refuses so was checked before: its queue is full.
        int errno = error == -1 ? Rdma.ENOMEM() : Math.abs(error);
        return new WorkRequestException(function, errno, Errno.name(errno),
                Failures.message(function, errno, "request " + index + " on " + life), index);
    }
}
