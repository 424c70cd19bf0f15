// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One object of each kind over the stand-in for libibverbs. The queue pair takes 3 scatter/gather entries on both sides
 * and 64 bytes inline; the region has 4096 bytes and all kinds of access.
 */
public final class FakeStack implements AutoCloseable {
    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair queuePair;

    /** Opens them all. */
    public FakeStack() throws RdmaException {
        context = Device.list().getFirst().open();
        domain = context.allocateProtectionDomain();
        region = domain.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(16, channel);
        queuePair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendScatterGather(3).maxReceiveScatterGather(3).maxInlineData(64).build());
    }

    /** The context. */
    public VerbsContext context() {
        return context;
    }

    /** The protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The region. */
    public MemoryRegion region() {
        return region;
    }

    /** The channel. */
    public CompletionChannel channel() {
        return channel;
    }

    /** The completion queue, of the channel. */
    public CompletionQueue queue() {
        return queue;
    }

    /** The queue pair, of the completion queue. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Closes those that are still open, children first. */
    @Override
    public void close() throws RdmaException {
        queuePair.close();
        queue.close();
        channel.close();
        region.close();
        domain.close();
        context.close();
    }
}
