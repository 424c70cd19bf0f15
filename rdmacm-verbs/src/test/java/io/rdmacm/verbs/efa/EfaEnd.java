// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.time.Duration;
import java.util.List;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;

/** A queue pair of the EFA device with all that belongs to it, in a protection domain of its own. */
final class EfaEnd implements AutoCloseable {
    static final int KEY = 0x2222;
    static final Duration LIMIT = Duration.ofMinutes(1);
    static final List<SendOperation> MESSAGES = List.of(SendOperation.SEND, SendOperation.SEND_WITH_IMM);
    static final List<SendOperation> READS = List.of(SendOperation.SEND, SendOperation.SEND_WITH_IMM,
            SendOperation.RDMA_READ);

    final VerbsContext context;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final EfaCompletionQueue queue;
    final MemoryRegion memory;
    final QueuePair pair;

    private EfaEnd(QueuePairType type, List<SendOperation> operations) throws RdmaException {
        context = open();
        domain = context.allocateProtectionDomain();
        channel = context.createCompletionChannel();
        queue = EfaCompletionQueue.create(context, CompletionQueueInitAttributes.builder(64).channel(channel).build(),
                EfaCompletionField.SGID);
        memory = domain.allocate(16384, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().type(type).completionQueue(queue)
                .maxSendScatterGather(2).maxReceiveScatterGather(2).maxInlineData(32).sendOperations(operations)
                .build();
        pair = type == QueuePairType.UD ? domain.createQueuePair(attributes)
                : EfaQueuePair.create(domain, attributes);
    }

    static VerbsContext open() throws RdmaException {
        return Device.list().getFirst().open();
    }

    static EfaEnd srd(List<SendOperation> operations) throws RdmaException {
        return new EfaEnd(QueuePairType.DRIVER, operations).ready(EfaTransitions.rtrToRts(0));
    }

    /** One that waits for the receives of its peers. */
    static EfaEnd patient(List<SendOperation> operations) throws RdmaException {
        return new EfaEnd(QueuePairType.DRIVER, operations)
                .ready(EfaTransitions.rtrToRts(0, EfaTransitions.RETRY_FOREVER));
    }

    static EfaEnd ud() throws RdmaException {
        return new EfaEnd(QueuePairType.UD, MESSAGES).ready(EfaTransitions.rtrToRts(0));
    }

    private EfaEnd ready(QueuePairAttributes last) throws RdmaException {
        pair.modify(EfaTransitions.resetToInit(1, 0, KEY));
        pair.modify(EfaTransitions.initToRtr());
        pair.modify(last);
        return this;
    }

    /** The address of a device: there is only one. */
    AddressHandle address() throws RdmaException {
        return domain.createAddressHandle(AddressAttributes.builder().port(1)
                .globalRoute(context.queryGid(1, 0), 0).build());
    }

    void receive(long id, int offset, int length) throws RdmaException {
        pair.postReceive(ReceiveRequests.allocate(1, 1).get(0).id(id).data(memory, offset, length));
    }

    /** Waits for a completion, and copies it. */
    WorkCompletion completion() throws Exception {
        try (CompletionCursor cursor = queue.awaitPoll(LIMIT)) {
            cursor.next();
            return ((Completion) cursor).copy();
        }
    }

    @Override
    public void close() throws RdmaException {
        pair.close();
        memory.close();
        queue.close();
        channel.close();
        domain.close();
        context.close();
    }
}
