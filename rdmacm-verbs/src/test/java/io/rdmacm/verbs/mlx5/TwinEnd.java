// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;

/**
 * The objects of an operation that is compared with its twin in C: {@code src/test/c/kernel/twin/setup.c} makes the
 * same ones in the same order. The queue pair is connected to itself.
 */
final class TwinEnd implements AutoCloseable {
    private static final int PORT = 1;
    private static final int MTU = 1024;
    private static final int PARTS = 4;
    private static final int QUEUE_KEY = 0x11223344;
    private static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    private static final RnrTimer TIMER = RnrTimer.ofCode(12);
    // a flow label, or the source port were random
    private static final AddressAttributes PATH = AddressAttributes.builder().port(PORT)
            .globalRoute(new GlobalRoute(new Gid(0, 0xffff_7f00_0001L), 0x12345, 0, 64, 0)).build();
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC);

    private final Deque<AutoCloseable> closing = new ArrayDeque<>();
    private final ProtectionDomain domain;
    final MemoryRegion region;
    final CompletionQueue completions;
    private final TwinQueues queues;
    private SharedReceiveQueue shared;
    private Mlx5QueuePair direct;
    final QueuePair pair;
    final AddressHandle address;
    final Mkey key;
    final MemoryWindow window;

    TwinEnd(TwinQueues queues, MemorySegment memory) throws RdmaException {
        this.queues = queues;
        VerbsContext context = own(Device.list().getFirst().open());
        domain = own(context.allocateProtectionDomain());
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        access.addAll(ACCESS);
        region = own(domain.register(memory, access.toArray(AccessFlag[]::new)));
        completions = own(context.createCompletionQueue(64, own(context.createCompletionChannel())));
        if (queues == TwinQueues.SHARED) {
            shared = own(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(16)
                    .maxScatterGather(PARTS).build()));
        }
        pair = own(createPair());
        connect();
        address = own(domain.createAddressHandle(PATH));
        key = own(Mkey.create(domain, PARTS, MkeyFlag.INDIRECT));
        window = own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
    }

    private <T extends AutoCloseable> T own(T part) {
        closing.push(part);
        return part;
    }

    private QueuePair createPair() throws RdmaException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().type(queues.type())
                .completionQueue(completions).sharedReceiveQueue(shared).maxSendRequests(32)
                .maxReceiveRequests(queues.hasReceives() ? 16 : 0).maxSendScatterGather(PARTS)
                .maxReceiveScatterGather(queues.hasReceives() ? PARTS : 0).maxInlineData(128)
                .sendOperations(queues.operations()).build();
        switch (queues) {
            case UMR -> direct = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.of(attributes).operations(
                    Mlx5SendOperation.MR_INTERLEAVED, Mlx5SendOperation.MR_LIST, Mlx5SendOperation.MKEY_CONFIGURE,
                    Mlx5SendOperation.RAW_WQE));
            case DCI -> direct = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.dci(attributes));
            case DCI_STREAMS -> direct = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.dci(attributes)
                    .streams(2, 1));
            default -> {
                return domain.createQueuePair(attributes);
            }
        }
        return direct;
    }

    private void connect() throws RdmaException {
        AccessFlag[] access = ACCESS.toArray(AccessFlag[]::new);
        switch (queues.type()) {
            case RC -> {
                pair.modify(QueuePairTransitions.Rc.resetToInit(PORT, 0, access));
                pair.modify(QueuePairTransitions.Rc.initToRtr(PATH, MTU, pair.number(), 0, 1, TIMER));
                pair.modify(QueuePairTransitions.Rc.rtrToRts(0, TIMEOUT, 7, 7, 1));
            }
            case UC -> {
                pair.modify(QueuePairTransitions.Uc.resetToInit(PORT, 0, access));
                pair.modify(QueuePairTransitions.Uc.initToRtr(PATH, MTU, pair.number(), 0));
                pair.modify(QueuePairTransitions.Uc.rtrToRts(0));
            }
            case UD -> {
                pair.modify(QueuePairTransitions.Ud.resetToInit(PORT, 0, QUEUE_KEY));
                pair.modify(QueuePairTransitions.Ud.initToRtr());
                pair.modify(QueuePairTransitions.Ud.rtrToRts(0));
            }
            case XRC_SEND -> {
                pair.modify(QueuePairTransitions.XrcSend.resetToInit(PORT, 0, access));
                pair.modify(QueuePairTransitions.XrcSend.initToRtr(PATH, MTU, pair.number(), 0));
                pair.modify(QueuePairTransitions.XrcSend.rtrToRts(0, TIMEOUT, 7, 7, 1));
            }
            default -> {
                pair.modify(DcTransitions.Dci.resetToInit(PORT, 0));
                pair.modify(DcTransitions.Dci.initToRtr(MTU));
                pair.modify(DcTransitions.Dci.rtrToRts(0, TIMEOUT, 7, 7, 1));
            }
        }
    }

    Mlx5QueuePair direct() {
        return direct;
    }

    SharedReceiveQueue shared() {
        return shared;
    }

    /** The address that requests name at the peer. */
    long remote() {
        return region.remoteAddress() + 4096;
    }

    @Override
    public void close() throws RdmaException {
        while (!closing.isEmpty()) {
            try {
                closing.pop().close();
            } catch (RdmaException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError("the objects of this library throw nothing else", e);
            }
        }
    }
}
