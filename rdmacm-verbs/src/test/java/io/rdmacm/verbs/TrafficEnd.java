// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.testing.RdmaTestDevice;

/** One of two ends on the device at hand, each with a context of its own: all that traffic needs. */
final class TrafficEnd implements AutoCloseable {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    static final Duration TIMEOUT = Duration.ofSeconds(60);
    static final int PORT = 1;
    static final int QUEUE_KEY = 0x11111111;
    static final int SIZE = 4096;
    /** Where a datagram's data begins in the receive buffer. */
    static final int HEADER = 40;
    private static final AccessFlag[] ALL = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
        AccessFlag.REMOTE_ATOMIC};
    private static final int MTU = 1024;
    private static final int DEPTH = 16;
    private static final int PACKET_NUMBER = 0x123456;

    final VerbsContext context;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final CompletionChannel channel;
    final CompletionQueue queue;
    final QueuePair pair;
    final SendRequest send;
    final ReceiveRequest receive;
    final int gidIndex;
    final Gid gid;
    private final boolean batching;
    private final Completions completions = Completions.allocate(1);
    private TrafficEnd peer;
    private AddressHandle toPeer;

    /** What an end is made of, with everything usual unless it is said otherwise. */
    static final class Builder {
        private QueuePairType type = QueuePairType.RC;
        private boolean extendedQueue;
        private Set<SendOperation> operations = Set.of();
        private Set<AccessFlag> regionAccess = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND);

        Builder type(QueuePairType value) {
            type = value;
            return this;
        }

        /** A completion queue that is read in place. */
        Builder extendedQueue(boolean on) {
            extendedQueue = on;
            return this;
        }

        /** A queue pair that posts in batches. */
        Builder operations(Set<SendOperation> values) {
            operations = values;
            return this;
        }

        Builder regionAccess(AccessFlag... flags) {
            regionAccess = Set.of(flags);
            return this;
        }

        TrafficEnd build() throws RdmaException {
            return new TrafficEnd(this);
        }
    }

    private TrafficEnd(Builder builder) throws RdmaException {
        context = Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name()))
                .findFirst().orElseThrow().open();
        gid = Gid.ofAddress(RdmaTestDevice.get().ipv4());
        gidIndex = context.queryGidTable(64).stream().filter(entry -> entry.gid().equals(gid)).findFirst()
                .orElseThrow(() -> new AssertionError("no GID " + gid)).index();
        domain = context.allocateProtectionDomain();
        region = domain.allocate(SIZE, builder.regionAccess.toArray(AccessFlag[]::new));
        channel = context.createCompletionChannel();
        queue = builder.extendedQueue
                ? context.createExtendedCompletionQueue(
                        CompletionQueueInitAttributes.builder(2 * DEPTH).channel(channel).build())
                : context.createCompletionQueue(2 * DEPTH, channel);
        pair = domain.createQueuePair(QueuePairInitAttributes.builder().type(builder.type).completionQueue(queue)
                .maxSendRequests(DEPTH).maxReceiveRequests(DEPTH).maxSendScatterGather(2).maxReceiveScatterGather(2)
                .maxInlineData(64)
                .sendOperations(builder.operations).build());
        batching = !builder.operations.isEmpty();
        send = SendRequests.allocate(1, 2).get(0);
        receive = ReceiveRequests.allocate(1, 2).get(0);
    }

    /** Two ends of a kind that can send to each other. */
    static TrafficEnd[] connected(Builder builder, AccessFlag... access) throws RdmaException {
        AccessFlag[] granted = access.length > 0 ? access : ALL;
        TrafficEnd one = builder.build();
        TrafficEnd other = builder.build();
        one.connect(other, granted);
        other.connect(one, granted);
        return new TrafficEnd[] {one, other};
    }

    private void connect(TrafficEnd other, AccessFlag... access) throws RdmaException {
        peer = other;
        if (pair.type() == QueuePairType.UD) {
            pair.modify(QueuePairTransitions.Ud.resetToInit(PORT, 0, QUEUE_KEY));
            pair.modify(QueuePairTransitions.Ud.initToRtr());
            pair.modify(QueuePairTransitions.Ud.rtrToRts(PACKET_NUMBER));
            toPeer = domain.createAddressHandle(AddressAttributes.ofRoute(PORT, other.gid, gidIndex));
            return;
        }
        connect(pair, other.pair, other.gid, access);
    }

    /** Brings a reliable queue pair of this end to another one. */
    void connect(QueuePair mine, QueuePair other, Gid gidOfOther, AccessFlag... access) throws RdmaException {
        AddressAttributes path = AddressAttributes.ofRoute(PORT, gidOfOther, gidIndex);
        mine.modify(QueuePairTransitions.Rc.resetToInit(PORT, 0, access));
        mine.modify(QueuePairTransitions.Rc.initToRtr(path, MTU, other.number(), PACKET_NUMBER, 4, 12));
        mine.modify(QueuePairTransitions.Rc.rtrToRts(PACKET_NUMBER, 14, 7, 7, 4));
    }

    boolean isDatagram() {
        return toPeer != null;
    }

    /** A receive for one message. */
    void postReceive(long id, int length) throws RdmaException {
        pair.postReceive(receive.id(id).data(region, 0, isDatagram() ? HEADER + length : length));
    }

    /** The request, with the peer as its destination where it needs one. */
    SendRequest addressed() {
        return isDatagram() ? send.datagram(toPeer, peer.pair.number(), QUEUE_KEY) : send;
    }

    /** The request begun last in a batch, with the peer as its destination where it needs one. */
    SendBatch addressed(SendBatch request) {
        return isDatagram() ? request.datagram(toPeer, peer.pair.number(), QUEUE_KEY) : request;
    }

    /** Whether this end posts in batches. */
    boolean isBatching() {
        return batching;
    }

    /** Sends a part of the region, from its beginning, in the way of this end. */
    void postSend(long id, int length, boolean withImmediate, int immediate) throws RdmaException {
        if (!batching) {
            SendRequest request = withImmediate ? send.sendWithImmediate(immediate) : send.send();
            addressed();
            pair.postSend(request.id(id).data(region, 0, length));
            return;
        }
        try (SendBatch batch = pair.startBatch()) {
            addressed(withImmediate ? batch.sendWithImmediate(immediate) : batch.send()).id(id)
                    .data(region, 0, length);
            batch.complete();
        }
    }

    TrafficEnd peer() {
        return peer;
    }

    long address(long offset) {
        return region.remoteAddress() + offset;
    }

    void fill(long offset, int length, int value) {
        region.memory().asSlice(offset, length).fill((byte) value);
    }

    byte[] bytes(long offset, int length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The next completion, by the means of its kind of queue. */
    WorkCompletion completion() throws RdmaException, InterruptedException {
        if (queue instanceof ExtendedCompletionQueue extended) {
            try (CompletionCursor completion = extended.awaitPoll(TIMEOUT)) {
                if (!completion.next()) {
                    throw new AssertionError("the wait ended without a completion");
                }
                return completion.copy();
            }
        }
        queue.await(completions, TIMEOUT);
        return completions.at(0).copy();
    }

    /** The next completion, which must be a success. */
    WorkCompletion success() throws RdmaException, InterruptedException {
        WorkCompletion completion = completion();
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError(completion);
        }
        return completion;
    }

    @Override
    public void close() throws RdmaException {
        if (toPeer != null) {
            toPeer.close();
        }
        pair.close();
        queue.close();
        channel.close();
        region.close();
        domain.close();
        context.close();
    }
}
