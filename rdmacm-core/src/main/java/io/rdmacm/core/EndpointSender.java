// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Bias;
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

    /** Posts a request with one part of memory; a SEND has neither remote address nor key. */
    void post(SendOpcode opcode, long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            long remoteAddress, int remoteKey) throws RdmaException {
        Bias bias = enter();
        try {
            begin(opcode, context, remoteAddress, remoteKey).data(region, offset, length);
            post(flags);
        } finally {
            leave(bias);
        }
    }

    /** Posts a request with several parts of memory; a SEND has neither remote address nor key. */
    void post(SendOpcode opcode, long context, ScatterGatherList list, Set<SendFlag> flags, long remoteAddress,
            int remoteKey) throws RdmaException {
        requireFits(list);
        Bias bias = enter();
        try {
            list.writeTo(begin(opcode, context, remoteAddress, remoteKey));
            post(flags);
        } finally {
            leave(bias);
        }
    }

    void postDatagram(long context, MemoryRegion region, long offset, int length, Set<SendFlag> flags,
            AddressHandle peer, int peerQueuePairNumber) throws RdmaException {
        Bias bias = enter();
        try {
            begin(SendOpcode.SEND, context, 0, 0).datagram(peer, peerQueuePairNumber, Rdma.RDMA_UDP_QKEY())
                    .data(region, offset, length);
            post(flags);
        } finally {
            leave(bias);
        }
    }

    /** Starts a request. Every caller passes a constant opcode, so the branches disappear when this is inlined. */
    private SendRequest begin(SendOpcode opcode, long context, long remoteAddress, int remoteKey) {
        request.id(context);
        if (opcode == SendOpcode.RDMA_WRITE) {
            return request.rdmaWrite(remoteAddress, remoteKey);
        }
        if (opcode == SendOpcode.RDMA_READ) {
            return request.rdmaRead(remoteAddress, remoteKey);
        }
        return request.send();
    }

    private void post(Set<SendFlag> flags) throws RdmaException {
        queuePair.postSend(request.flags(flags));
        if (signalAll || flags.contains(SendFlag.SIGNALED)) {
            posted();
        }
    }
}
