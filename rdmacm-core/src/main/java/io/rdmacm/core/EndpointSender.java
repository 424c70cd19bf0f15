// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/** Posts the sends, reads and writes of an endpoint. */
final class EndpointSender extends EndpointDirection {
    private final SendRequest request;
    private final boolean signalAll;

    EndpointSender(QueuePair queuePair, @Nullable EndpointCompletions completions, boolean signalAll) {
        super("send", queuePair, completions, queuePair.capabilities().maxSendScatterGather());
        this.request = SendRequests.allocate(1, Math.max(1, maxEntries)).get(0);
        this.signalAll = signalAll;
    }

    /** Posts a request with one part of memory; a SEND has no remote memory. */
    void post(SendOpcode opcode, long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags,
            @Nullable RemoteMemory remote) throws RdmaException {
        Bias bias = enter();
        try {
            begin(opcode, context, remote, length).data(region, offset, length);
            post(flags);
        } finally {
            leave(bias);
        }
    }

    /** Posts a request with several parts of memory; a SEND has no remote memory. */
    void post(SendOpcode opcode, long context, ScatterGatherList list, Set<SendFlag> flags,
            @Nullable RemoteMemory remote) throws RdmaException {
        requireFits(list);
        Bias bias = enter();
        try {
            list.writeTo(begin(opcode, context, remote, list.bytes()));
            post(flags);
        } finally {
            leave(bias);
        }
    }

    void postDatagram(long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags,
            AddressHandle peer, int peerQueuePairNumber) throws RdmaException {
        Bias bias = enter();
        try {
            begin(SendOpcode.SEND, context, null, 0).datagram(peer, peerQueuePairNumber, Rdma.RDMA_UDP_QKEY())
                    .data(region, offset, length);
            post(flags);
        } finally {
            leave(bias);
        }
    }

    /** Starts a request. Every caller passes a constant opcode, so the branches disappear when this is inlined. */
    private SendRequest begin(SendOpcode opcode, long context, @Nullable RemoteMemory remote, long length) {
        request.id(context);
        if (opcode == SendOpcode.SEND) {
            return request.send();
        }
        long address = Objects.requireNonNull(remote, "remote").addressOf(0, length);
        return opcode == SendOpcode.RDMA_WRITE
                ? request.rdmaWrite(address, remote.key())
                : request.rdmaRead(address, remote.key());
    }

    private void post(Set<SendFlag> flags) throws RdmaException {
        queuePair.postSend(request.flags(flags));
        if (signalAll || flags.contains(SendFlag.SIGNALED)) {
            posted();
        }
    }
}
