// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.ref.Reference;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;

/** A queue to which receive work requests are posted: that of a queue pair, a shared one or a work queue. */
final class ReceiveQueue extends BiasedLock {
    private final String kind;
    private final String function;
    private final DriverCall post;
    private final long object;
    private final int maxScatterGather;
    private final Lifetime life;

    /**
     * Creates the queue.
     *
     * @param owner the name of the class that the queue belongs to
     * @param kind how messages name the owner
     * @param function the inline function that posts to the queue
     * @param post the function of the driver that the inline function calls:
     *        {@code int (*)(object, struct ibv_recv_wr *, struct ibv_recv_wr **)}
     * @param object the address of the C object
     * @param maxScatterGather the maximum number of scatter/gather entries of a request
     * @param life the life of the object, for messages
     */
    ReceiveQueue(String owner, String kind, String function, DriverCall post, long object,
            int maxScatterGather, Lifetime life) {
        super(owner);
        this.kind = kind;
        this.function = function;
        this.post = post;
        this.object = object;
        this.maxScatterGather = maxScatterGather;
        this.life = life;
    }

    void post(ReceiveRequest request) throws RdmaException {
        Bias bias = enter();
        int error;
        try {
            if (request.maxEntries() > maxScatterGather) {
                checkEntries(request);
            }
            request.unchain();
            error = (int) post.call(object, request.address(), request.refusedAddress(), 0, 0, 0);
            if (error != 0) {
                request.forgetRefused();
            }
        } finally {
            leave(bias);
            Reference.reachabilityFence(request);
        }
        if (error != 0) {
            throw SendQueue.refused(function, error, 0, life);
        }
    }

    void post(ReceiveRequests block, int first, int count) throws RdmaException {
        Bias bias = enter();
        int error;
        int failed = first;
        try {
            SendQueue.requireRange(first, count, block.capacity());
            if (block.maxScatterGather() > maxScatterGather) {
                for (int i = first; i < first + count; i++) {
                    checkEntries(block.get(i));
                }
            }
            block.chain(first, count);
            error = (int) post.call(object, block.address(first), block.refusedAddress(), 0, 0, 0);
            if (error != 0) {
                failed = block.refused(first, count);
            }
        } finally {
            leave(bias);
            Reference.reachabilityFence(block);
        }
        if (error != 0) {
            throw SendQueue.refused(function, error, failed, life);
        }
    }

    private void checkEntries(ReceiveRequest request) {
        if (request.entries() > maxScatterGather) {
            throw SendQueue.tooMany(request.entries(), kind, maxScatterGather);
        }
    }
}
