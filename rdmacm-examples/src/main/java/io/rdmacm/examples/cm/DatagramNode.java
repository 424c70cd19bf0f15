// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmId;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.AddressHandle;
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
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;

/**
 * One id of udaddy or mckey, with its UD queue pair. Each datagram carries the number of the sender's queue pair as
 * immediate data; the payload does not matter.
 */
final class DatagramNode {
    /** Bytes of the global route header in front of each received datagram. */
    private static final int HEADER = 40;
    private static final int BATCH = 8;

    private final CmId id;
    private final int count;
    private final int size;
    private final CompletionQueue queue;
    private final MemoryRegion message;
    private final QueuePair pair;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);

    /** Creates a queue pair, a completion queue and a buffer for {@code count} messages of {@code size} bytes. */
    DatagramNode(CmId id, int count, int size, Resources open, QueuePairCreateFlag... flags) throws IOException {
        this.id = id;
        this.count = count;
        this.size = size;
        int mtu = id.context().queryPort(id.devicePort()).activeMtu();
        if (count > 0 && size > mtu) {
            throw new IOException("message_size " + size + " is larger than active mtu " + mtu);
        }
        int entries = Math.max(1, count);
        ProtectionDomain domain = open.add(id.context().allocateProtectionDomain());
        message = open.add(domain.allocate(HEADER + size, AccessFlag.LOCAL_WRITE));
        queue = open.add(id.context().createCompletionQueue(2 * entries,
                open.add(id.context().createCompletionChannel())));
        pair = open.add(id.createQueuePair(domain, QueuePairInitAttributes.builder().type(QueuePairType.UD)
                .completionQueue(queue).maxSendRequests(entries).maxReceiveRequests(entries).createFlags(flags)
                .build()));
    }

    CmId id() {
        return id;
    }

    /** The destination of datagrams. */
    record Target(AddressHandle address, int queuePair, int queueKey) {
    }

    /** Returns the target that an event of the connection manager describes. */
    Target target(DatagramParameters parameters, Resources open) throws IOException {
        AddressHandle address = pair.protectionDomain().createAddressHandle(parameters.address().orElseThrow());
        return new Target(open.add(address), parameters.queuePairNumber(), parameters.queueKey());
    }

    /** Returns the sender of the datagram that was received last. */
    Target sender(WorkCompletions received, Resources open) throws IOException {
        AddressHandle address = pair.protectionDomain().createAddressHandle(received,
                message.memory().asSlice(0, HEADER), id.devicePort());
        return new Target(open.add(address), received.immediate(), pair.query().attributes().queueKey());
    }

    void postReceives() throws IOException {
        ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0).data(message, 0, HEADER + size);
        for (int i = 0; i < count; i++) {
            pair.postReceive(receive);
        }
    }

    /** Posts all sends, of which only the last one is signaled. */
    void postSends(Target target) throws IOException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).sendWithImmediate(pair.number())
                .datagram(target.address(), target.queuePair(), target.queueKey()).data(message, HEADER, size);
        for (int i = 1; i <= count; i++) {
            pair.postSend(send.signaled(i == count));
        }
    }

    /** Called with the cursor at the completion of a received datagram. */
    @FunctionalInterface
    interface Receiver {
        void received(WorkCompletions completion) throws IOException;
    }

    /**
     * Waits until all sends and all receives have completed.
     *
     * @param sends whether sends were posted
     * @param receives whether receives were posted
     * @param first how long to wait for the first message
     * @param next how long to wait for each of the others
     */
    void await(boolean sends, boolean receives, Duration first, Duration next, Receiver receiver)
            throws IOException, InterruptedException {
        int toSend = sends && count > 0 ? 1 : 0;
        int toCome = receives ? count : 0;
        while (toSend > 0 || toCome > 0) {
            int done = count - toCome;
            Transfers.await(queue, completions, done, count, done == 0 ? first : next);
            while (completions.next()) {
                completions.check();
                if (completions.opcode() == WorkCompletionOpcode.SEND) {
                    toSend--;
                } else {
                    requireExpected();
                    receiver.received(completions);
                    toCome--;
                }
            }
        }
    }

    private void requireExpected() throws IOException {
        if (completions.byteLength() != HEADER + size) {
            throw new IOException("a message of " + (completions.byteLength() - HEADER) + " bytes arrived, not of "
                    + size + ": give both sides the same -S");
        }
        if (!completions.hasImmediate() || completions.immediate() != completions.sourceQueuePair()) {
            throw new IOException("a message arrived without the number of its sender's queue pair: it comes from"
                    + " another program");
        }
    }
}
