// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.CompletionWaiter;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;

/** One end: the card with a domain, a completion queue and registered memory, and what a test adds to them. */
final class Mlx5End implements AutoCloseable {
    static final int PORT = 1;
    static final int MEMORY = 1 << 16;

    private static final int MTU = 1024;
    private static final AddressAttributes PATH = AddressAttributes.builder().port(PORT)
            .globalRoute(new GlobalRoute(new Gid(0, 0xffff_7f00_0001L), 0, 0, 64, 0)).build();

    final VerbsContext context;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final CompletionChannel channel;
    final CompletionQueue completions;
    private final CompletionWaiter waiter;
    private final Deque<AutoCloseable> closing = new ArrayDeque<>();

    Mlx5End() throws RdmaException {
        context = own(Device.list().getFirst().open());
        domain = own(context.allocateProtectionDomain());
        region = own(domain.allocate(MEMORY, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        channel = own(context.createCompletionChannel());
        completions = own(context.createCompletionQueue(64, channel));
        waiter = new CompletionWaiter(completions);
    }

    <T extends AutoCloseable> T own(T part) {
        closing.push(part);
        return part;
    }

    /** A reliable connection whose batches may change keys. */
    Mlx5QueuePair connection() throws RdmaException {
        return own(Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.of(attributes(QueuePairType.RC)
                .maxInlineData(512).build()).operations(Mlx5SendOperation.MR_INTERLEAVED, Mlx5SendOperation.MR_LIST,
                        Mlx5SendOperation.MKEY_CONFIGURE, Mlx5SendOperation.RAW_WQE, Mlx5SendOperation.MEMCPY)));
    }

    Mlx5QueuePair initiator() throws RdmaException {
        Mlx5QueuePair pair = own(Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.dci(
                attributes(QueuePairType.DRIVER).maxReceiveRequests(0).maxReceiveScatterGather(0).build())));
        pair.modify(DcTransitions.Dci.resetToInit(PORT, 0));
        pair.modify(DcTransitions.Dci.initToRtr(MTU));
        pair.modify(DcTransitions.Dci.rtrToRts(0, AckTimeout.ofCode(14), 7, 7, 1));
        return pair;
    }

    Mlx5QueuePair target(SharedReceiveQueue receives, long key) throws RdmaException {
        Mlx5QueuePair pair = own(Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.dct(QueuePairInitAttributes
                .builder().type(QueuePairType.DRIVER).completionQueue(completions).sharedReceiveQueue(receives)
                .maxSendRequests(0).build(), key)));
        pair.modify(DcTransitions.Dct.resetToInit(PORT, 0, AccessFlag.REMOTE_WRITE));
        pair.modify(DcTransitions.Dct.initToRtr(PATH, MTU, RnrTimer.ofCode(12)));
        return pair;
    }

    SharedReceiveQueue receives() throws RdmaException {
        return own(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build()));
    }

    private QueuePairInitAttributes.Builder attributes(QueuePairType type) {
        return QueuePairInitAttributes.builder().type(type).completionQueue(completions).maxSendRequests(32)
                .sendOperations(List.of(SendOperation.SEND, SendOperation.RDMA_WRITE));
    }

    static void connect(Mlx5QueuePair one, Mlx5QueuePair other) throws RdmaException {
        for (Mlx5QueuePair pair : List.of(one, other)) {
            int peer = (pair == one ? other : one).number();
            pair.modify(QueuePairTransitions.Rc.resetToInit(PORT, 0, AccessFlag.REMOTE_WRITE));
            pair.modify(QueuePairTransitions.Rc.initToRtr(PATH, MTU, peer, 0, 1, RnrTimer.ofCode(12)));
            pair.modify(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(14), 7, 7, 1));
        }
    }

    static AddressAttributes path() {
        return PATH;
    }

    /** Receives for a queue pair or a shared queue; each into bytes of the region of its own. */
    ReceiveRequests receive(int count, int bytes) throws RdmaException {
        ReceiveRequests requests = ReceiveRequests.allocate(count, 1);
        for (int i = 0; i < count; i++) {
            requests.get(i).id(i).data(region, (long) i * bytes, bytes);
        }
        return requests;
    }

    void fill(int from, int length, int first) {
        for (int i = 0; i < length; i++) {
            memory().set(ValueLayout.JAVA_BYTE, from + i, (byte) (first + i));
        }
    }

    byte[] bytes(int from, int length) {
        return memory().asSlice(from, length).toArray(ValueLayout.JAVA_BYTE);
    }

    MemorySegment memory() {
        return region.memory();
    }

    /** Takes so many completions. */
    List<WorkCompletion> completions(int count) throws Exception {
        List<WorkCompletion> all = new ArrayList<>();
        while (all.size() < count) {
            all.add(waiter.next());
        }
        return all;
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
