// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import static org.assertj.core.api.Assertions.assertThat;

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

/** One end of a connection with the objects that it needs. Its close closes all of them, the id included. */
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

    /** Creates the objects for an id that is bound to a device; the id creates the queue pair. */
    public End(CmId id) throws RdmaException {
        this(id, id::createQueuePair);
    }

    /** Creates the queue pair of an end. */
    @FunctionalInterface
    public interface QueuePairMaker {
        QueuePair make(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException;
    }

    /** Creates the objects for an id that is bound to a device. */
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

    /** Waits for the next completion and checks that it is a success. */
    public WorkCompletion completion(Duration timeout) throws RdmaException, InterruptedException {
        if (!completions.next()) {
            queue.await(completions, timeout);
            completions.next();
        }
        completions.check();
        return completions.copy();
    }

    /** Writes a text to the beginning of the region. */
    public void write(String text) {
        region.memory().setString(0, text, StandardCharsets.UTF_8);
    }

    /** Reads the text at the beginning of the region. */
    public String read() {
        return region.memory().getString(0, StandardCharsets.UTF_8);
    }

    /** Sends a few messages to the other end of the connection and checks that they arrive. */
    public void sendMessagesTo(End peer) throws RdmaException, InterruptedException {
        for (int i = 0; i < 5; i++) {
            peer.queuePair.postReceive(peer.receive.id(i).data(peer.region, 0, 64));
            write("message " + i);
            queuePair.postSend(send.id(100 + i).send().data(region, 0, 64));
            assertThat(peer.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(i);
            assertThat(peer.read()).isEqualTo("message " + i);
            assertThat(completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(100 + i);
        }
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
