// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;

/** One end of a connection with all that belongs to it; closes in the right order, the id included. */
public final class End implements AutoCloseable {
    public static final int BYTES = 8192;

    public final CmId id;
    public final ProtectionDomain domain;
    public final CompletionChannel completionChannel;
    public final CompletionQueue queue;
    public final MemoryRegion region;
    public final QueuePair queuePair;
    public final WorkCompletions completions = WorkCompletions.allocate(16);
    public final SendRequest send = SendRequests.allocate(1, 1).get(0);
    public final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    /** For an id that is bound to a device, with a queue pair of the id's own. */
    public End(CmId id) throws RdmaException {
        this(id, id::createQueuePair);
    }

    /** Makes the queue pair of an end. */
    @FunctionalInterface
    public interface QueuePairMaker {
        QueuePair make(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException;
    }

    /** For an id that is bound to a device. */
    public End(CmId id, QueuePairMaker maker) throws RdmaException {
        this.id = id;
        domain = id.context().allocateProtectionDomain();
        completionChannel = id.context().createCompletionChannel();
        queue = id.context().createCompletionQueue(16, completionChannel);
        region = domain.allocate(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_ATOMIC);
        queuePair = maker.make(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                .type(id.portSpace().queuePairType()).build());
    }

    /** The next completion, a successful one. */
    public WorkCompletion completion(Duration timeout) throws RdmaException, InterruptedException {
        if (!completions.next()) {
            queue.await(completions, timeout);
            completions.next();
        }
        completions.check();
        return completions.copy();
    }

    public void write(String text) {
        region.memory().setString(0, text, StandardCharsets.UTF_8);
    }

    public String read() {
        return region.memory().getString(0, StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws RdmaException {
        queuePair.close();
        region.close();
        queue.close();
        completionChannel.close();
        domain.close();
        id.close();
    }
}
