// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.IndirectionTable;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.ReceiveSideScaling;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.WorkQueue;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.flow.FlowMatch;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.WorkQueueState;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Assumptions;

/** One of two ends that exchange whole Ethernet frames, each with a context of its own. */
public final class RawEnd implements AutoCloseable {
    public static final int PORT = 1;
    public static final int FRAME = 512;
    private static final int DEPTH = 64;

    public final VerbsContext context;
    public final ProtectionDomain domain;
    public final MemoryRegion region;
    public final CompletionChannel channel;
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);
    // the last is closed first
    private final Deque<NativeObject> objects = new ArrayDeque<>();
    private CompletionQueue queue;
    private QueuePair pair;
    private List<CompletionQueue> spreadQueues = List.of();
    private List<WorkQueue> workQueues = List.of();

    /** Creates an end on a device, which it closes. */
    public RawEnd(VerbsContext context) throws RdmaException {
        this.context = own(context);
        domain = own(context.allocateProtectionDomain());
        region = own(domain.allocate(FRAME, AccessFlag.LOCAL_WRITE));
        channel = own(context.createCompletionChannel());
    }

    private <T extends NativeObject> T own(T object) {
        objects.push(object);
        return object;
    }

    @FunctionalInterface
    private interface Creator<T> {
        T create() throws RdmaException;
    }

    /** What a device may not have, or a user may not do, skips the test. */
    private static <T> T orSkip(String what, Creator<T> creator) throws RdmaException {
        try {
            return creator.create();
        } catch (RdmaUnsupportedException e) {
            return Assumptions.abort("the device has no " + what + ": " + e.getMessage());
        } catch (RdmaException e) {
            Assumptions.assumeFalse(e.errno() == Rdma.EPERM(), what + " need the right to raw network access"
                    + " (CAP_NET_RAW): " + e.getMessage());
            throw e;
        }
    }

    private void requireEthernet() throws RdmaException {
        LinkLayer layer = context.queryPort(PORT).linkLayer();
        Assumptions.assumeTrue(layer == LinkLayer.ETHERNET, "port " + PORT + " is on " + layer + ", not on Ethernet");
    }

    /** A queue pair that sends and receives whole frames. */
    public RawEnd withPair() throws RdmaException {
        requireEthernet();
        queue = own(context.createCompletionQueue(2 * DEPTH, channel));
        pair = own(orSkip("queue pairs of type RAW_PACKET", () -> domain.createQueuePair(
                QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET).completionQueue(queue)
                        .maxSendRequests(DEPTH).maxReceiveRequests(DEPTH).build())));
        pair.modify(QueuePairTransitions.RawPacket.resetToInit(PORT));
        pair.modify(QueuePairTransitions.RawPacket.initToRtr());
        pair.modify(QueuePairTransitions.RawPacket.rtrToRts());
        return this;
    }

    /** A queue pair that only receives, and spreads what it receives over work queues of two completion queues. */
    public RawEnd withSpreadPair(int entries, byte[] key, RxHashField... fields) throws RdmaException {
        requireEthernet();
        spreadQueues = List.of(own(context.createCompletionQueue(entries * DEPTH / 2, channel)),
                own(context.createCompletionQueue(entries * DEPTH / 2, channel)));
        workQueues = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            CompletionQueue itsQueue = spreadQueues.get(i % 2);
            WorkQueue workQueue = own(orSkip("work queues", () -> domain.createWorkQueue(itsQueue, DEPTH, 1)));
            workQueue.modify(WorkQueueState.RDY);
            workQueues.add(workQueue);
        }
        IndirectionTable table = own(orSkip("indirection tables", () -> context.createIndirectionTable(workQueues)));
        ReceiveSideScaling scaling = new ReceiveSideScaling(table, RxHashFunction.TOEPLITZ, key,
                Set.of(fields));
        pair = own(orSkip("queue pairs of type RAW_PACKET with receive side scaling", () -> domain.createQueuePair(
                QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET).receiveSideScaling(scaling)
                        .build())));
        return this;
    }

    /** Steers the frames that match to the queue pair. */
    public void steer(FlowMatch... matches) throws RdmaException {
        own(orSkip("flow steering by " + List.of(matches), () -> Flow.create(pair,
                FlowAttributes.builder().port(PORT).match(matches).build())));
    }

    public void postReceive() throws RdmaException {
        pair.postReceive(receive.data(region, 0, FRAME));
    }

    /** Receives for frames, in each of the work queues: who gets them is for the hash to say. */
    public void postSpreadReceives(int count) throws RdmaException {
        for (WorkQueue workQueue : workQueues) {
            for (int i = 0; i < count; i++) {
                workQueue.postReceive(receive.data(region, 0, FRAME));
            }
        }
    }

    /** Sends a frame, and waits until that is done. */
    public void send(byte[] frame) throws Exception {
        MemorySegment.copy(frame, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, frame.length);
        pair.postSend(send.send().data(region, 0, frame.length));
        awaitCompletion();
    }

    /** Waits for a completion and checks that it is a success. */
    public void awaitCompletion() throws Exception {
        queue.await(completions, TrafficEnd.TIMEOUT);
        completions.at(0).check();
    }

    public boolean hasCompletion() throws RdmaException {
        return queue.poll(completions) > 0;
    }

    /** Waits for receives that are reported in any of the two completion queues, and tells how many in each. */
    public int[] awaitSpread(int count) throws Exception {
        for (CompletionQueue one : spreadQueues) {
            one.requestNotification(false);
        }
        int[] taken = new int[spreadQueues.size()];
        while (Arrays.stream(taken).sum() < count) {
            int before = Arrays.stream(taken).sum();
            for (int i = 0; i < taken.length; i++) {
                while (spreadQueues.get(i).poll(completions) > 0) {
                    completions.at(0).check();
                    taken[i]++;
                }
            }
            if (Arrays.stream(taken).sum() == before) {
                channel.getEvent(TrafficEnd.TIMEOUT).requestNotification(false);
            }
        }
        return taken;
    }

    public byte[] received() {
        return region.memory().asSlice(0, FRAME).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() throws RdmaException {
        while (!objects.isEmpty()) {
            objects.pop().close();
        }
    }
}
