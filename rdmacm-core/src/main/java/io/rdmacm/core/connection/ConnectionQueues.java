// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;

/**
 * The queue pair of a connection, its buffers and their state. Everything here is guarded by the lock of the
 * connection.
 */
final class ConnectionQueues {
    // A work request id has the kind of work in its upper half, and the index of the request in the lower one.
    private static final int RECEIVE = 0;
    private static final int SEND = 1;
    private static final int OPERATION = 2;
    private static final int LINE = 64;

    private final DeviceResources device;
    private final ConnectionSettings settings;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final QueuePair pair;
    private final long stride;
    private final ReceiveRequests receives;
    private final SendRequests sends;
    private final SendRequests operations;
    private final WorkCompletions completions = WorkCompletions.allocate(16);
    private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
    private final ArrayDeque<Integer> freeOperations = new ArrayDeque<>();
    // By the index of the request; null when it is free.
    private final Operation[] inFlight;
    private final Queue<Arrived> arrived = new ArrayDeque<>();
    // The first work request that failed.
    private WorkCompletion failure;

    /** A message that has arrived: the index of its buffer and its length in bytes. */
    record Arrived(int index, int length) {
    }

    /** A read or write that was posted. */
    static final class Operation {
        private WorkCompletion completion;

        /** Returns its completion; null as long as there is none. */
        WorkCompletion completion() {
            return completion;
        }
    }

    private ConnectionQueues(DeviceResources device, ConnectionSettings settings, CompletionQueue queue,
            MemoryRegion region, QueuePair pair) {
        this.device = device;
        this.settings = settings;
        this.queue = queue;
        this.region = region;
        this.pair = pair;
        this.stride = stride(settings);
        this.receives = ReceiveRequests.allocate(settings.receiveBuffers(), 1);
        this.sends = SendRequests.allocate(settings.sendBuffers(), 1);
        this.operations = SendRequests.allocate(settings.operations(), 1);
        this.inFlight = new Operation[settings.operations()];
        for (int i = 0; i < settings.sendBuffers(); i++) {
            sends.get(i).id(id(SEND, i));
            freeSends.add(i);
        }
        for (int i = 0; i < settings.operations(); i++) {
            operations.get(i).id(id(OPERATION, i));
            freeOperations.add(i);
        }
    }

    /** Creates the queues and posts all receives. */
    static ConnectionQueues create(DeviceResources device, CmId id, ConnectionSettings settings, Runnable waker)
            throws RdmaException {
        int sends = settings.sendBuffers() + settings.operations();
        long bytes = stride(settings) * (settings.receiveBuffers() + settings.sendBuffers());
        CompletionQueue queue = null;
        MemoryRegion region = null;
        QueuePair pair = null;
        boolean made = false;
        try {
            queue = device.createQueue(settings.receiveBuffers() + sends, waker);
            // Messages can outlive their connection, so the garbage collector frees the memory.
            region = device.domain().register(Arena.ofAuto().allocate(bytes, LINE), AccessFlag.LOCAL_WRITE);
            pair = id.createQueuePair(device.domain(), QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxReceiveRequests(settings.receiveBuffers()).maxSendRequests(sends).build());
            ConnectionQueues queues = new ConnectionQueues(device, settings, queue, region, pair);
            for (int i = 0; i < settings.receiveBuffers(); i++) {
                queues.receives.get(i).id(id(RECEIVE, i)).data(region, queues.stride * i, settings.messageSize());
            }
            pair.postReceive(queues.receives, 0, settings.receiveBuffers());
            made = true;
            return queues;
        } finally {
            if (!made) {
                close(device, pair, region, queue);
            }
        }
    }

    QueuePair pair() {
        return pair;
    }

    /** Takes all completions that are there, and returns how many. */
    int progress() throws RdmaException {
        int total = 0;
        while (queue.poll(completions) > 0) {
            total += completions.size();
            while (completions.next()) {
                take();
            }
        }
        return total;
    }

    /** Asks for an event when the next completion arrives. */
    void arm() throws RdmaException {
        queue.requestNotification(false);
    }

    /** Returns the next message; null when there is none. */
    Arrived nextArrived() {
        return arrived.poll();
    }

    boolean hasArrived() {
        return !arrived.isEmpty();
    }

    MemorySegment memory(Arrived message) {
        return region.memory().asSlice(stride * message.index(), message.length());
    }

    /** Posts the receive of a buffer again. */
    void postReceive(int index) throws RdmaException {
        pair.postReceive(receives.get(index));
    }

    boolean canSend() {
        return !freeSends.isEmpty();
    }

    boolean hasSendsInFlight() {
        return freeSends.size() < settings.sendBuffers() || freeOperations.size() < settings.operations();
    }

    /** Copies a message into a free buffer and posts it. */
    void send(MemorySegment data) throws RdmaException {
        int index = freeSends.remove();
        boolean posted = false;
        try {
            long offset = stride * (settings.receiveBuffers() + index);
            MemorySegment.copy(data, 0, region.memory(), offset, data.byteSize());
            SendRequest request = sends.get(index);
            if (data.byteSize() == 0) {
                request.noData();
            } else {
                request.data(region, offset, (int) data.byteSize());
            }
            pair.postSend(request);
            posted = true;
        } finally {
            if (!posted) {
                freeSends.add(index);
            }
        }
    }

    boolean canOperate() {
        return !freeOperations.isEmpty();
    }

    /** Posts a read or write. */
    Operation operate(boolean write, MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey)
            throws RdmaException {
        int index = freeOperations.remove();
        boolean posted = false;
        try {
            SendRequest request = operations.get(index).data(local, offset, length);
            if (write) {
                request.rdmaWrite(remoteAddress, remoteKey);
            } else {
                request.rdmaRead(remoteAddress, remoteKey);
            }
            pair.postSend(request);
            posted = true;
            inFlight[index] = new Operation();
            return inFlight[index];
        } finally {
            if (!posted) {
                freeOperations.add(index);
            }
        }
    }

    /** Returns the first failure; null when there was none. */
    WorkCompletion failure() {
        return failure;
    }

    void close() throws RdmaException {
        close(device, pair, region, queue);
    }

    private void take() {
        int index = (int) completions.workRequestId();
        switch ((int) (completions.workRequestId() >>> Integer.SIZE)) {
            case RECEIVE -> {
                if (completions.succeeded()) {
                    arrived.add(new Arrived(index, completions.byteLength()));
                }
            }
            case SEND -> freeSends.add(index);
            default -> {
                inFlight[index].completion = completions.copy();
                inFlight[index] = null;
                freeOperations.add(index);
            }
        }
        if (!completions.succeeded() && failure == null) {
            failure = completions.copy();
        }
    }

    private static long id(int kind, int index) {
        return (long) kind << Integer.SIZE | index;
    }

    private static long stride(ConnectionSettings settings) {
        return (settings.messageSize() + LINE - 1L) / LINE * LINE;
    }

    private static void close(DeviceResources device, QueuePair pair, MemoryRegion region, CompletionQueue queue)
            throws RdmaException {
        if (pair != null) {
            pair.close();
        }
        if (region != null) {
            region.close();
        }
        if (queue != null) {
            device.close(queue);
        }
    }
}
