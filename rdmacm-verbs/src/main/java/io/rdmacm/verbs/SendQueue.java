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

/** Where the send work requests of a queue pair are posted. */
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
    // Where C writes the request that it refused: used with the lock held.
    private final MemorySegment refused = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final long refusedAddress = refused.address();
    // Requests up to this check level are posted unchecked. Used with the lock held.
    private int uncheckedLevel;
    // null when the queue pair has none
    private volatile SendBatch batch;

    /**
     * A queue.
     *
     * @param object the address of the queue pair
     * @param userSpace whether a post never goes into the kernel
     * @param attributes what the queue pair was made with
     * @param capabilities of the queue pair
     * @param domain the protection domain of the queue pair
     * @param life of the queue pair, for messages
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
     * Sets the batch of the queue, unless it has one already.
     *
     * @return the batch that it has now
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

    /** The batch of the queue; null when there is none yet. */
    SendBatch batch() {
        return batch;
    }

    boolean isInUserSpace() {
        return userSpace;
    }

    /** Refuses what would have to wait for an open batch; with the lock held. */
    void requireNoBatch() {
        SendBatch other = batch;
        if (other != null) {
            other.requireClosed();
        }
    }

    void requireOpen() {
        life.ensureOpen();
    }

    /** Aborts the batch if it is open; with the lock held or closed. */
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
                check(request);
                request.beginBind();
            }
            request.unchain();
            error = post.call(object, request.address(), refusedAddress);
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
            error = post.call(object, block.address(first), refusedAddress);
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

    /** Backwards, so that what was not posted leaves what was there before it. */
    private static void endBinds(SendRequests block, int first, int end, int failed) {
        for (int i = end - 1; i >= first; i--) {
            block.get(i).endBind(i < failed);
        }
    }

    /** Whether there are any that bind a window. */
    private boolean check(SendRequests block, int first, int count) {
        boolean binds = false;
        for (int i = first; i < first + count; i++) {
            SendRequest request = block.get(i);
            check(request);
            binds |= request.bindsWindow();
        }
        return binds;
    }

    private void check(SendRequest request) {
        requireNoBatch();
        if (request.entries() > maxScatterGather) {
            throw tooMany(request.entries(), "queue pair", maxScatterGather);
        }
        request.checkInline(maxInlineData, domain);
        if (datagrams) {
            request.checkDestination(domain);
        }
        request.checkBind(domain);
        request.checkSegmented(maxTsoHeader);
    }

    static IllegalArgumentException tooMany(int entries, String kind, int limit) {
        return new IllegalArgumentException("a work request of " + entries + " scatter/gather entries on a " + kind
                + " that takes " + limit);
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
