// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;

import io.rdmacm.core.CmId;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.core.PortSpace;
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
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * One connection of ucmatose, or one queue pair of udaddy or mckey: some messages to send, and as many to receive, of
 * the same length. Their content does not matter; a datagram carries the number of its sender's queue pair.
 */
final class Node {
    /** Bytes of the global route header in front of each received datagram. */
    private static final int ROUTE_HEADER = 40;
    private static final int BATCH = 8;

    private final CmId id;
    private final int count;
    private final int size;
    private final int header;
    private final CompletionQueue queue;
    private final MemoryRegion message;
    private final QueuePair pair;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);
    private Destination destination;
    // of the sends, only the last one completes
    private boolean sending;
    private int received;

    /** Where a node sends datagrams. */
    private record Destination(AddressHandle address, int queuePair, int queueKey) {
    }

    /** Creates a queue pair, its completion queue, and a buffer for all messages. */
    Node(CmId id, int count, int size, Resources open, QueuePairCreateFlag... flags) throws IOException {
        this.id = id;
        this.count = count;
        this.size = size;
        QueuePairType type = id.portSpace().queuePairType();
        header = type == QueuePairType.UD ? ROUTE_HEADER : 0;
        int mtu = id.context().queryPort(id.devicePort()).activeMtu();
        if (type == QueuePairType.UD && count > 0 && size > mtu) {
            throw new IOException("message_size " + size + " is larger than active mtu " + mtu);
        }
        int entries = Math.max(1, count);
        ProtectionDomain domain = open.add(id.context().allocateProtectionDomain());
        message = open.add(domain.allocate(Math.max(1, header + size), AccessFlag.LOCAL_WRITE));
        queue = open.add(id.context().createCompletionQueue(2 * entries,
                open.add(id.context().createCompletionChannel())));
        pair = open.add(id.createQueuePair(domain, QueuePairInitAttributes.builder().type(type)
                .completionQueue(queue).maxSendRequests(entries).maxReceiveRequests(entries).createFlags(flags)
                .build()));
    }

    /** Returns the port space of the number if one is given, otherwise the named one; null if it has no datagrams. */
    static PortSpace datagramSpace(Integer number, PortSpace named) {
        return Arrays.stream(PortSpace.values()).filter(space -> number == null ? space == named
                : space.value() == number).filter(space -> space.queuePairType() == QueuePairType.UD).findFirst()
                .orElse(null);
    }

    CmId id() {
        return id;
    }

    /** Sends datagrams from now on to where an event of the connection manager says. */
    void sendTo(DatagramParameters parameters, Resources open) throws IOException {
        AddressHandle address = pair.protectionDomain().createAddressHandle(parameters.address().orElseThrow());
        destination = new Destination(open.add(address), parameters.queuePairNumber(), parameters.queueKey());
    }

    /** Sends datagrams from now on to the sender of the one that was received last. */
    void sendToSender(Resources open) throws IOException {
        AddressHandle address = pair.protectionDomain().createAddressHandle(completions,
                message.memory().asSlice(0, header), id.devicePort());
        destination = new Destination(open.add(address), completions.immediate(),
                pair.query().attributes().queueKey());
    }

    /** Posts receives for all messages of the peer, which may arrive as soon as it knows this side. */
    void postReceives() throws IOException {
        ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0).data(message, 0, header + size);
        for (int i = 0; i < count; i++) {
            pair.postReceive(receive);
        }
    }

    void postSends() throws IOException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).data(message, header, size);
        if (destination == null) {
            send.send();
        } else {
            send.sendWithImmediate(pair.number()).datagram(destination.address, destination.queuePair,
                    destination.queueKey);
        }
        for (int i = 1; i <= count; i++) {
            pair.postSend(send.signaled(i == count));
        }
        sending = count > 0;
    }

    /** Waits until all sends have completed. */
    void awaitSends(Duration timeout) throws IOException, InterruptedException {
        while (sending) {
            awaitSome(timeout);
        }
    }

    /** Waits until all messages have arrived: some time for the first one, and some for each of the others. */
    void awaitReceives(Duration first, Duration next) throws IOException, InterruptedException {
        while (received < count) {
            awaitSome(received == 0 ? first : next);
        }
    }

    private void awaitSome(Duration timeout) throws IOException, InterruptedException {
        try {
            queue.await(completions, timeout);
        } catch (RdmaTimeoutException e) {
            throw new IOException("after " + received + " of " + count + " messages nothing arrived for "
                    + timeout.toSeconds() + " seconds", e);
        }
        while (completions.next()) {
            if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
                throw new IOException("the peer ended the connection before all messages were complete");
            }
            completions.check();
            if (completions.opcode() == WorkCompletionOpcode.SEND) {
                sending = false;
            } else {
                requireExpected();
                received++;
            }
        }
    }

    private void requireExpected() throws IOException {
        if (completions.byteLength() != header + size) {
            throw new IOException("a message of " + (completions.byteLength() - header) + " bytes arrived, not of "
                    + size + ": give both sides the same -S");
        }
        if (header > 0 && (!completions.hasImmediate() || completions.immediate() != completions.sourceQueuePair())) {
            throw new IOException("a message arrived without the number of its sender's queue pair: it comes from"
                    + " another program");
        }
    }
}
