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
 * The queue pair of one id of udaddy or mckey, for datagrams. Each datagram carries the number of the sender's queue
 * pair as its immediate value; the rest of it is of no particular content.
 */
final class DatagramNode {
    /** In front of each datagram that comes is the header of its route. */
    private static final int HEADER = 40;
    private static final int BATCH = 8;

    private final CmId id;
    private final int count;
    private final int size;
    private final CompletionQueue queue;
    private final MemoryRegion message;
    private final QueuePair pair;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);

    /** Makes what it takes to send and receive some messages of a size. */
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

    /** To whom datagrams are sent. */
    record Target(AddressHandle address, int queuePair, int queueKey) {
    }

    /** The target that an event tells of. */
    Target target(DatagramParameters parameters, Resources open) throws IOException {
        AddressHandle address = pair.protectionDomain().createAddressHandle(parameters.address().orElseThrow());
        return new Target(open.add(address), parameters.queuePairNumber(), parameters.queueKey());
    }

    /** The sender of the datagram that was received last. */
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

    /** Sends all messages; only the last gives a completion. */
    void postSends(Target target) throws IOException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).sendWithImmediate(pair.number())
                .datagram(target.address(), target.queuePair(), target.queueKey()).data(message, HEADER, size);
        for (int i = 1; i <= count; i++) {
            pair.postSend(send.signaled(i == count));
        }
    }

    /** What is done with the completion of a datagram, the current one. */
    @FunctionalInterface
    interface Receiver {
        void received(WorkCompletions completion) throws IOException;
    }

    /**
     * Waits until the messages that were posted are sent, and as many have come.
     *
     * @param sends whether messages were posted
     * @param receives whether messages are to come
     * @param first how long the first one may take
     * @param next how long each of the others may take
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
                    requireOurs();
                    receiver.received(completions);
                    toCome--;
                }
            }
        }
    }

    private void requireOurs() throws IOException {
        if (completions.byteLength() != HEADER + size) {
            throw new IOException("a message of " + (completions.byteLength() - HEADER) + " bytes came, not of " + size
                    + ": give both sides the same -S");
        }
        if (!completions.hasImmediate() || completions.immediate() != completions.sourceQueuePair()) {
            throw new IOException("a message came without the number of its sender's queue pair: of another program");
        }
    }
}
