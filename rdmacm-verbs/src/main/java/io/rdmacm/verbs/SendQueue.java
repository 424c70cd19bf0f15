// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairType;

/** The send queue of a queue pair. It checks send work requests and posts them. */
final class SendQueue extends BiasedLock {
    private static final int NONE = -1;

    private final DriverCall post;
    private final long object;
    private final boolean userSpace;
    private final int maxScatterGather;
    private final int maxInlineData;
    private final ProtectionDomain domain;
    private final boolean datagrams;
    private final int maxTsoHeader;
    private final Lifetime life;
    // C writes the address of a refused request here. Used with the lock held.
    private final MemorySegment refused = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final long refusedAddress = refused.address();
    // Requests with a check level up to this one are posted unchecked. Used with the lock held.
    private int uncheckedLevel;
    // null until the first one is started
    private volatile SendBatch batch;

    /**
     * Creates the queue.
     *
     * @param object the address of the queue pair
     * @param userSpace whether a post never enters the kernel
     * @param attributes the attributes with which the queue pair was created
     * @param capabilities the actual sizes of the queue pair
     * @param domain the protection domain of the queue pair
     * @param life the life of the queue pair, for messages
     */
    SendQueue(long object, boolean userSpace, QueuePairInitAttributes attributes, QueuePairCapabilities capabilities,
            ProtectionDomain domain, Lifetime life) {
        super("QueuePair");
        this.post = ContextOps.POST_SEND.call(object, userSpace);
        this.object = object;
        this.userSpace = userSpace;
        this.maxScatterGather = capabilities.maxSendScatterGather();
        this.maxInlineData = capabilities.maxInlineData();
        this.domain = domain;
        this.datagrams = attributes.type() == QueuePairType.UD;
        this.maxTsoHeader = attributes.maxTsoHeader();
        this.life = life;
        this.uncheckedLevel = datagrams ? NONE : maxScatterGather;
    }

    /**
     * Sets the batch of the queue, unless it already has one.
     *
     * @return the batch that it now has
     */
    SendBatch setBatch(SendBatch made) {
        Bias bias = enter();
        try {
            if (batch == null) {
                batch = made;
                uncheckedLevel = NONE;
            }
            return batch;
        } finally {
            leave(bias);
        }
    }

    /** Returns the batch of the queue; null if there is none yet. */
    SendBatch batch() {
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

    void post(SendRequest request) throws RdmaException {
        Bias bias = enter();
        int error;
        try {
            boolean checked = request.checkLevel() > uncheckedLevel;
            if (checked) {
                requireNoBatch();
                check(request);
                request.beginBind();
            }
            request.unchain();
            error = (int) post.call(object, request.address(), refusedAddress);
            if (checked) {
                request.endBind(error == 0);
            }
        } finally {
            leave(bias);
            Reference.reachabilityFence(request);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_SEND.name(), error, 0, life);
        }
    }

    void post(SendRequests block, int first, int count) throws RdmaException {
        Bias bias = enter();
        int error;
        int failed = first;
        try {
            requireRange(first, count, block.capacity());
            boolean binds = block.checkLevel() > uncheckedLevel && check(block, first, count);
            block.chain(first, count);
            if (binds) {
                beginBinds(block, first, first + count);
            }
            error = (int) post.call(object, block.address(first), refusedAddress);
            if (error != 0) {
                failed = block.indexOf(Memory.getLong(refusedAddress));
            }
            if (binds) {
                endBinds(block, first, first + count, error == 0 ? first + count : failed);
            }
        } finally {
            leave(bias);
            Reference.reachabilityFence(block);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_SEND.name(), error, failed, life);
        }
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
    private static void endBinds(SendRequests block, int first, int end, int failed) {
        for (int i = end - 1; i >= first; i--) {
            block.get(i).endBind(i < failed);
        }
    }

    /** Checks requests, and returns whether any of them binds a memory window. */
    private boolean check(SendRequests block, int first, int count) {
        requireNoBatch();
        boolean binds = false;
        for (int i = first; i < first + count; i++) {
            SendRequest request = block.get(i);
            check(request);
            binds |= request.bindsWindow();
        }
        return binds;
    }

    private void check(SendRequest request) {
        int entries = request.entries();
        if (entries > maxScatterGather) {
            throw tooMany(entries, "queue pair", maxScatterGather);
        }
        request.checkInline(entries, maxInlineData, domain);
        if (datagrams) {
            request.checkDestination(domain);
        }
        request.checkBind(domain);
        request.checkSegmented(maxTsoHeader);
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

    static WorkRequestException refused(String function, int error, int index, Lifetime life) {
        int errno = Math.abs(error);
        return new WorkRequestException(function, errno, Errno.name(errno),
                Failures.message(function, errno, "request " + index + " on " + life), index);
    }
}
