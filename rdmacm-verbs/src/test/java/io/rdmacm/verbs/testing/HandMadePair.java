// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;

/**
 * Two queue pairs of one device, brought from state to state by hand and connected to each other, each with a
 * completion queue, a region and blocks of work requests: what tests of traffic stand on. Waiting is done by completion
 * events. The peers are {@link #a()} and {@link #b()}; all is closed in the right order.
 */
public final class HandMadePair implements AutoCloseable {
    public static final int PORT = 1;
    public static final int QUEUE_KEY = 0x11111111;
    public static final int REGION = 16384;
    /** What stands before a datagram in the receive buffer. */
    public static final int ROUTE_HEADER = 40;

    private static final int BLOCK = 16;
    private static final int MAX_SGE = 2;

    private final Deque<NativeObject> resources = new ArrayDeque<>();
    private final QueuePairType type;
    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final AddressAttributes route;
    private final Side a;
    private final Side b;

    private HandMadePair(Builder builder) throws RdmaException {
        boolean complete = false;
        if (builder.type != QueuePairType.RC) {
            RdmaTestDevice.assumeNotIwarp("it has no queue pairs of type " + builder.type);
        }
        try {
            type = builder.type;
            String name = RdmaTestDevice.get().name();
            context = own(Device.list().stream().filter(device -> device.name().equals(name)).findFirst()
                    .orElseThrow().open());
            domain = own(context.allocateProtectionDomain());
            route = route(context);
            a = new Side(builder);
            b = new Side(builder);
            a.peer = b;
            b.peer = a;
            if (builder.connect) {
                connect(builder);
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    /** Begins with 16 sends and receives of 2 entries each, 64 bytes inline, connected; no patience for errors. */
    public static Builder of(QueuePairType type) {
        return new Builder(type);
    }

    /** The way from the device to itself. */
    public static AddressAttributes route(VerbsContext context) throws RdmaException {
        GidEntry entry = context.queryGidTable(64).stream().filter(e -> e.port() == PORT)
                .max(Comparator.comparing((GidEntry e) -> e.type() == GidType.ROCE_V2)
                        .thenComparing(e -> e.gid().isIpv4()))
                .orElseThrow();
        return AddressAttributes.ofRoute(PORT, entry.gid(), entry.index());
    }

    public VerbsContext context() {
        return context;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public AddressAttributes route() {
        return route;
    }

    public Side a() {
        return a;
    }

    public Side b() {
        return b;
    }

    /** Closed with the pair, before what was made before it. */
    public <T extends NativeObject> T own(T resource) {
        resources.push(resource);
        return resource;
    }

    @Override
    public void close() throws RdmaException {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }

    private void connect(Builder builder) throws RdmaException {
        for (Side side : new Side[] {a, b}) {
            side.queuePair.modify(toInit());
        }
        for (Side side : new Side[] {a, b}) {
            side.queuePair.modify(builder.rtr.apply(toRtr(side.peer.queuePair.number())));
            side.queuePair.modify(builder.rts.apply(toRts()));
        }
    }

    /** The first step. */
    public QueuePairAttributes toInit() {
        RdmaTestDevice.assumeConnectedByHand();
        return switch (type) {
            case UD -> QueuePairTransitions.Ud.resetToInit(PORT, 0, QUEUE_KEY);
            case UC -> QueuePairTransitions.Uc.resetToInit(PORT, 0, AccessFlag.REMOTE_WRITE);
            default -> QueuePairTransitions.Rc.resetToInit(PORT, 0, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC);
        };
    }

    /** The second step. */
    public QueuePairAttributes toRtr(int peer) {
        return switch (type) {
            case UD -> QueuePairTransitions.Ud.initToRtr();
            case UC -> QueuePairTransitions.Uc.initToRtr(route, 1024, peer, 0);
            default -> QueuePairTransitions.Rc.initToRtr(route, 1024, peer, 0, 4, RnrTimer.ofCode(12));
        };
    }

    /** The third step. */
    public QueuePairAttributes toRts() {
        return switch (type) {
            case UD -> QueuePairTransitions.Ud.rtrToRts(0);
            case UC -> QueuePairTransitions.Uc.rtrToRts(0);
            default -> QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(14), 7, 6, 4);
        };
    }

    /** One of the two. */
    public final class Side {
        private final CompletionQueue completionQueue;
        private final MemoryRegion region;
        private final SharedReceiveQueue shared;
        private final QueuePair queuePair;
        private final SendRequests sends = SendRequests.allocate(BLOCK, MAX_SGE);
        private final ReceiveRequests receives = ReceiveRequests.allocate(BLOCK, MAX_SGE);
        private final CompletionWaiter waiter;
        private Side peer;
        private AddressHandle handle;

        private Side(Builder builder) throws RdmaException {
            CompletionChannel channel = own(context.createCompletionChannel());
            completionQueue = own(context.createCompletionQueue(4 * BLOCK, channel));
            waiter = new CompletionWaiter(completionQueue);
            region = own(domain.allocate(REGION, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                    AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND));
            QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().type(type)
                    .completionQueue(completionQueue).maxSendScatterGather(MAX_SGE).maxReceiveScatterGather(MAX_SGE)
                    .maxInlineData(64).sendOperations(builder.operations);
            shared = builder.shared ? own(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder()
                    .maxScatterGather(MAX_SGE).build())) : null;
            builder.attributes.accept(attributes.sharedReceiveQueue(shared));
            queuePair = own(domain.createQueuePair(attributes.build()));
        }

        public QueuePair queuePair() {
            return queuePair;
        }

        public CompletionQueue completionQueue() {
            return completionQueue;
        }

        public MemoryRegion region() {
            return region;
        }

        /** Null without {@link Builder#sharedReceiveQueue()}. */
        public SharedReceiveQueue sharedReceiveQueue() {
            return shared;
        }

        /** A send request of the block with its index for the id; of datagrams it has its address. */
        public SendRequest request(int index) throws RdmaException {
            SendRequest request = sends.get(index).id(index);
            return type == QueuePairType.UD ? request.datagram(handle(), peer.queuePair.number(), QUEUE_KEY) : request;
        }

        /** The way to the peer, of datagrams. */
        public AddressHandle handle() throws RdmaException {
            if (handle == null) {
                handle = own(domain.createAddressHandle(route));
            }
            return handle;
        }

        public SendRequests sends() {
            return sends;
        }

        /** A receive request of the block with its index for the id. */
        public ReceiveRequest receive(int index) {
            return receives.get(index).id(index);
        }

        /** Posts a receive to the queue pair, or to its shared receive queue. */
        public void post(ReceiveRequest request) throws RdmaException {
            if (shared == null) {
                queuePair.postReceive(request);
            } else {
                shared.postReceive(request);
            }
        }

        /** Returns where the data of a message begins that was received at an offset. */
        public long dataOffset(long offset) {
            return type == QueuePairType.UD ? offset + ROUTE_HEADER : offset;
        }

        /** Waits for the next completion. */
        public WorkCompletion completion() throws RdmaException, InterruptedException {
            return waiter.next();
        }

        /** Writes a text into the region. */
        public void write(long offset, String text) {
            region.memory().asSlice(offset).copyFrom(
                    MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII)));
        }

        /** Reads a text from the region. */
        public String read(long offset, int length) {
            return new String(region.memory().asSlice(offset, length)
                    .toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
        }
    }

    /** Makes a pair. */
    public static final class Builder {
        private final QueuePairType type;
        private Consumer<QueuePairInitAttributes.Builder> attributes = builder -> { };
        private UnaryOperator<QueuePairAttributes> rtr = UnaryOperator.identity();
        private UnaryOperator<QueuePairAttributes> rts = UnaryOperator.identity();
        private Set<SendOperation> operations = EnumSet.noneOf(SendOperation.class);
        private boolean shared;
        private boolean connect = true;

        private Builder(QueuePairType type) {
            this.type = type;
        }

        /** Changes what the queue pairs are made with. */
        public Builder attributes(Consumer<QueuePairInitAttributes.Builder> change) {
            attributes = change;
            return this;
        }

        /** Changes the step to RTR. */
        public Builder rtr(UnaryOperator<QueuePairAttributes> change) {
            rtr = change;
            return this;
        }

        /** Changes the step to RTS. */
        public Builder rts(UnaryOperator<QueuePairAttributes> change) {
            rts = change;
            return this;
        }

        /** The queue pairs have the extended send interface. */
        public Builder sendOperations(Set<SendOperation> wanted) {
            operations = wanted;
            return this;
        }

        /** Each side receives through a shared receive queue. */
        public Builder sharedReceiveQueue() {
            shared = true;
            return this;
        }

        /** They stay in RESET. */
        public Builder unconnected() {
            connect = false;
            return this;
        }

        public HandMadePair build() throws RdmaException {
            return new HandMadePair(this);
        }
    }
}
