// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.BiConsumer;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ParentDomain;
import io.rdmacm.verbs.ParentDomainAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import org.junit.jupiter.api.Assumptions;

/** One of two ends on the device at hand, each with a context of its own: all that traffic needs. */
public final class TrafficEnd implements AutoCloseable {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    public static final Duration TIMEOUT = CompletionWaiter.LIMIT;
    public static final int PORT = 1;
    public static final int QUEUE_KEY = 0x11111111;
    public static final int SIZE = 4096;
    /** Where a datagram's data begins in the receive buffer. */
    public static final int HEADER = 40;
    private static final AccessFlag[] ALL = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
        AccessFlag.REMOTE_ATOMIC};
    private static final int MTU = 1024;
    private static final int PACKET_NUMBER = 0x123456;

    public final VerbsContext context;
    public final ProtectionDomain domain;
    public final MemoryRegion region;
    public final CompletionChannel channel;
    public final CompletionQueue queue;
    /** Null unless it was asked for. */
    public final SharedReceiveQueue shared;
    public final QueuePair pair;
    public final SendRequest send;
    public final ReceiveRequest receive;
    public final int gidIndex;
    public final Gid gid;
    private final Deque<NativeObject> owned = new ArrayDeque<>();
    private final QueuePairInitAttributes attributes;
    // where queue pairs are made: the domain, or one over it
    private final ProtectionDomain maker;
    private final CompletionWaiter waiter;
    private TrafficEnd peer;
    private AddressHandle toPeer;

    /** The settings of an end. */
    public static final class Builder {
        private QueuePairType type = QueuePairType.RC;
        private boolean extendedQueue;
        private Set<SendOperation> operations = Set.of();
        private CompletionField more;
        private int depth = 16;
        private boolean sends = true;
        private BiConsumer<TrafficEnd, SharedReceiveQueueInitAttributes.Builder> shared;
        private ParentDomainAttributes parent;
        private Set<AccessFlag> regionAccess = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND);

        /** Sets the type of the queue pair; otherwise RC. */
        public Builder type(QueuePairType value) {
            type = value;
            return this;
        }

        /** Sets whether the completion queue is an extended one, which is read in place. */
        public Builder extendedQueue(boolean on) {
            extendedQueue = on;
            return this;
        }

        /** Asks for an extended completion queue with a field that not all devices have. */
        public Builder extendedQueue(CompletionField field) {
            extendedQueue = true;
            more = field;
            return this;
        }

        /** Sets how many requests the queues hold. */
        public Builder depth(int requests) {
            depth = requests;
            return this;
        }

        /** Asks for a queue pair that posts in batches, with these operations. */
        public Builder operations(Set<SendOperation> values) {
            operations = values;
            return this;
        }

        /** Asks for no send queue: devices do the reads of a tag matching rendezvous by such queue pairs only. */
        public Builder receiveOnly() {
            sends = false;
            return this;
        }

        /** Asks for a shared receive queue, and changes its attributes. */
        public Builder sharedReceiveQueue(BiConsumer<TrafficEnd, SharedReceiveQueueInitAttributes.Builder> change) {
            shared = change;
            return this;
        }

        /** Creates the queues in a parent domain. Skips the test if the device has none. */
        public Builder parentDomain(ParentDomainAttributes values) {
            parent = values;
            return this;
        }

        /** Sets the access flags of the memory region; otherwise all. */
        public Builder regionAccess(AccessFlag... flags) {
            regionAccess = Set.of(flags);
            return this;
        }

        public TrafficEnd build() throws RdmaException {
            return new TrafficEnd(this);
        }
    }

    private TrafficEnd(Builder builder) throws RdmaException {
        boolean complete = false;
        RdmaTestDevice.assumeConnectedByHand();
        try {
            context = own(openDevice());
            gid = Gid.ofAddress(RdmaTestDevice.get().ipv4());
            gidIndex = context.queryGidTable(64).stream().filter(entry -> entry.gid().equals(gid)).findFirst()
                    .orElseThrow(() -> new AssertionError("no GID " + gid)).index();
            domain = own(context.allocateProtectionDomain());
            maker = builder.parent == null ? domain : own(parentDomain(builder.parent));
            region = own(domain.allocate(SIZE, builder.regionAccess.toArray(AccessFlag[]::new)));
            channel = own(context.createCompletionChannel());
            queue = own(createQueue(builder));
            waiter = new CompletionWaiter(queue);
            shared = builder.shared == null ? null : own(createShared(builder));
            attributes = QueuePairInitAttributes.builder().type(builder.type).completionQueue(queue)
                    .maxSendRequests(builder.sends ? builder.depth : 0).maxReceiveRequests(builder.depth)
                    .maxSendScatterGather(builder.sends ? 2 : 0).maxReceiveScatterGather(2)
                    .maxInlineData(builder.sends ? 64 : 0).sendOperations(builder.operations)
                    .sharedReceiveQueue(shared).build();
            pair = createPair();
            send = SendRequests.allocate(1, 2).get(0);
            receive = ReceiveRequests.allocate(1, 2).get(0);
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    /** A context of the device at hand. */
    public static VerbsContext openDevice() throws RdmaException {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    private ParentDomain parentDomain(ParentDomainAttributes wanted) throws RdmaException {
        try {
            return domain.allocateParentDomain(wanted);
        } catch (RdmaUnsupportedException e) {
            return Assumptions.abort("the device has no parent domains: " + e.getMessage());
        }
    }

    private CompletionQueue createQueue(Builder builder) throws RdmaException {
        if (!builder.extendedQueue) {
            return context.createCompletionQueue(2 * builder.depth, channel);
        }
        CompletionQueueInitAttributes.Builder wanted = CompletionQueueInitAttributes.builder(2 * builder.depth)
                .channel(channel);
        if (builder.more != null) {
            Set<CompletionField> fields = EnumSet.copyOf(wanted.build().fields());
            fields.add(builder.more);
            wanted.fields(fields.toArray(CompletionField[]::new));
        }
        if (builder.parent != null) {
            wanted.parentDomain(maker);
        }
        try {
            return context.createExtendedCompletionQueue(wanted.build());
        } catch (RdmaUnsupportedException e) {
            return Assumptions.abort("the device has no extended completion queues of this kind: " + e.getMessage());
        }
    }

    private SharedReceiveQueue createShared(Builder builder) throws RdmaException {
        SharedReceiveQueueInitAttributes.Builder wanted = SharedReceiveQueueInitAttributes.builder()
                .maxRequests(2 * builder.depth);
        builder.shared.accept(this, wanted);
        return maker.createSharedReceiveQueue(wanted.build());
    }

    /** Another queue pair of the same kind, not connected. */
    public QueuePair createPair() throws RdmaException {
        return own(maker.createQueuePair(attributes));
    }

    /** Closed with this end, before what was made before it. */
    public <T extends NativeObject> T own(T object) {
        owned.push(object);
        return object;
    }

    /** Two ends of a kind that can send to each other. */
    public static TrafficEnd[] connected(Builder builder, AccessFlag... access) throws RdmaException {
        return connected(builder, builder, access);
    }

    /** Two ends of two kinds. */
    public static TrafficEnd[] connected(Builder first, Builder second, AccessFlag... access) throws RdmaException {
        AccessFlag[] granted = access.length > 0 ? access : ALL;
        TrafficEnd one = first.build();
        TrafficEnd other = null;
        boolean complete = false;
        try {
            other = second.build();
            one.connect(other, granted);
            other.connect(one, granted);
            complete = true;
            return new TrafficEnd[] {one, other};
        } finally {
            if (!complete) {
                if (other != null) {
                    other.close();
                }
                one.close();
            }
        }
    }

    private void connect(TrafficEnd other, AccessFlag... access) throws RdmaException {
        peer = other;
        if (pair.type() == QueuePairType.UD) {
            pair.modify(QueuePairTransitions.Ud.resetToInit(PORT, 0, QUEUE_KEY));
            pair.modify(QueuePairTransitions.Ud.initToRtr());
            pair.modify(QueuePairTransitions.Ud.rtrToRts(PACKET_NUMBER));
            toPeer = own(domain.createAddressHandle(AddressAttributes.ofRoute(PORT, other.gid, gidIndex)));
            return;
        }
        connect(pair, other.pair, other.gid, access);
    }

    /** Brings a connected queue pair of this end to another one. */
    public void connect(QueuePair mine, QueuePair other, Gid gidOfOther, AccessFlag... access) throws RdmaException {
        AddressAttributes path = AddressAttributes.ofRoute(PORT, gidOfOther, gidIndex);
        if (mine.type() == QueuePairType.UC) {
            mine.modify(QueuePairTransitions.Uc.resetToInit(PORT, 0, AccessFlag.REMOTE_WRITE));
            mine.modify(QueuePairTransitions.Uc.initToRtr(path, MTU, other.number(), PACKET_NUMBER));
            mine.modify(QueuePairTransitions.Uc.rtrToRts(PACKET_NUMBER));
            return;
        }
        mine.modify(QueuePairTransitions.Rc.resetToInit(PORT, 0, access));
        mine.modify(QueuePairTransitions.Rc.initToRtr(path, MTU, other.number(), PACKET_NUMBER, 4,
                RnrTimer.ofCode(12)));
        mine.modify(QueuePairTransitions.Rc.rtrToRts(PACKET_NUMBER, AckTimeout.ofCode(14), 7, 7, 4));
    }

    public boolean isDatagram() {
        return toPeer != null;
    }

    /** A receive for one message. */
    public void postReceive(long id, int length) throws RdmaException {
        post(receive.id(id).data(region, 0, header() + length));
    }

    /** Posts a receive where the queue pair takes them from. */
    public void post(ReceiveRequest request) throws RdmaException {
        if (shared == null) {
            pair.postReceive(request);
        } else {
            shared.postReceive(request);
        }
    }

    /** How many bytes stand before a message in the receive buffer. */
    public int header() {
        return isDatagram() ? HEADER : 0;
    }

    /** Posts to the queue pair of this end, without batches, and waits for success. */
    public MemoryTraffic.Requester requester() {
        return requester(pair);
    }

    /** Posts to another queue pair of this end, without batches, and waits for success. */
    public MemoryTraffic.Requester requester(QueuePair mine) {
        return change -> {
            mine.postSend(change.apply(addressed().id(0)));
            success();
        };
    }

    /** The request, with the peer as its destination where it needs one. */
    public SendRequest addressed() {
        return isDatagram() ? send.datagram(toPeer, peer.pair.number(), QUEUE_KEY) : send;
    }

    /** The request begun last in a batch, with the peer as its destination where it needs one. */
    public SendBatch addressed(SendBatch request) {
        return isDatagram() ? request.datagram(toPeer, peer.pair.number(), QUEUE_KEY) : request;
    }

    /** Whether this end posts in batches. */
    public boolean isBatching() {
        return !attributes.sendOperations().isEmpty();
    }

    /** Sends a part of the region, from its beginning, in the way of this end. */
    public void postSend(long id, int length, boolean withImmediate, int immediate) throws RdmaException {
        if (!isBatching()) {
            SendRequest request = withImmediate ? send.sendWithImmediate(immediate) : send.send();
            addressed();
            pair.postSend(request.id(id).data(region, 0, length));
            return;
        }
        try (SendBatch batch = pair.startBatch()) {
            batch.id(id);
            addressed(withImmediate ? batch.sendWithImmediate(immediate) : batch.send())
                    .data(region, 0, length);
            batch.complete();
        }
    }

    public TrafficEnd peer() {
        return peer;
    }

    public long address(long offset) {
        return region.remoteAddress() + offset;
    }

    public void fill(long offset, int length, int value) {
        region.memory().asSlice(offset, length).fill((byte) value);
    }

    public byte[] bytes(long offset, int length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The next completion, by the means of its kind of queue. */
    public WorkCompletion completion() throws RdmaException, InterruptedException {
        return waiter.next();
    }

    /** The next completion, which must be a success. */
    public WorkCompletion success() throws RdmaException, InterruptedException {
        return waiter.success();
    }

    @Override
    public void close() throws RdmaException {
        while (!owned.isEmpty()) {
            owned.pop().close();
        }
    }
}
