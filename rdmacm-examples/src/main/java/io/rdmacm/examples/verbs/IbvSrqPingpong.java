// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_srq_pingpong}, as ibv_srq_pingpong(1): sends messages back and forth over many reliable
 * connections that share a receive queue.
 */
@Command(name = "ibv_srq_pingpong", header = "Ping-pong over reliable connections that share a receive queue.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_srq_pingpong -g 1 -q 4", "  rdmacm ibv_srq_pingpong -g 1 -q 4 192.168.99.1"})
final class IbvSrqPingpong extends ConnectedPingPong {
    private static final int PLACES = 256;

    @Option(names = {"-q", "--num-qp"}, paramLabel = "COUNT", defaultValue = "16",
            description = "How many connections, the same on both sides (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = {"-o", "--odp"}, description = "Register the buffer with on-demand paging.")
    private boolean paging;

    private SharedReceiveQueue shared;

    @Override
    void checkOptions() {
        super.checkOptions();
        require(count >= 1 && count < PLACES, "Invalid number of connections " + count);
        require(count <= depth, "rx_depth " + depth + " is too small for " + count
                + " QPs -- must have at least one receive per QP.");
    }

    @Override
    int pairs() {
        return count;
    }

    @Override
    int places() {
        return PLACES;
    }

    @Override
    void requireSupport(VerbsContext context) throws IOException {
        if (paging) {
            requirePaging(context, Set.of(OdpCapability.SEND, OdpCapability.SRQ_RECV), "send, receive and srq");
        }
    }

    @Override
    MemoryRegion register(ProtectionDomain domain, MemorySegment data, Resources open) throws IOException {
        shared = open.add(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder()
                .maxRequests(depth).maxScatterGather(1).build()));
        return paging ? open.add(domain.register(data, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND))
                : super.register(domain, data, open);
    }

    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return domain.createQueuePair(attributes.maxReceiveRequests(0).sharedReceiveQueue(shared).build());
    }

    @Override
    PingPong.Receives receiver(List<QueuePair> pairs, ReceiveRequests receives) {
        return more -> shared.postReceive(receives, 0, more);
    }
}
