// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx.OnDemandPaging;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.queue.QueuePairTransitions.Rc;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_srq_pingpong}, as ibv_srq_pingpong(1): sends messages back and forth over many reliable
 * connections that share a receive queue.
 */
@Command(name = "ibv_srq_pingpong", sortOptions = false,
        header = "Ping-pong over reliable connections that share a receive queue.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_srq_pingpong -g 1 -q 4", "  rdmacm ibv_srq_pingpong -g 1 -q 4 192.168.99.1"})
public final class IbvSrqPingpong implements Callable<Integer> {
    // so many addresses are exchanged, however many are used
    private static final int PLACES = 256;

    @Mixin
    private ConnectedOptions options;

    @Option(names = {"-q", "--num-qp"}, paramLabel = "COUNT", defaultValue = "16",
            description = "How many connections, the same on both sides (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = {"-o", "--odp"}, description = "Register the buffer with on-demand paging.")
    private boolean paging;

    /** Created by picocli. */
    public IbvSrqPingpong() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check();
        options.require(count >= 1 && count < PLACES, "Invalid number of connections " + count);
        options.require(count <= options.depth(), "rx_depth " + options.depth() + " is too small for " + count
                + " QPs -- must have at least one receive per QP.");
        try (VerbsContext context = options.openDevice();
                CompletionChannel channel = options.createChannel(context);
                CompletionQueue queue = options.createQueue(context, channel, options.depth() + count);
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion buffer = domain.allocate(options.size(), access(context));
                SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder()
                        .maxRequests(options.depth()).maxScatterGather(1).build())) {
            PageMarks.erase(buffer.memory());
            List<QueuePair> pairs = new ArrayList<>();
            try {
                for (int i = 0; i < count; i++) {
                    pairs.add(domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                            .maxSendRequests(1).maxReceiveRequests(0).sharedReceiveQueue(shared).build()));
                }
                run(pairs, shared, queue, buffer);
            } finally {
                for (QueuePair pair : pairs) {
                    pair.close();
                }
            }
        }
        return 0;
    }

    private AccessFlag[] access(VerbsContext context) throws IOException {
        if (!paging) {
            return new AccessFlag[] {AccessFlag.LOCAL_WRITE};
        }
        OnDemandPaging capabilities = context.queryDeviceEx().onDemandPaging();
        if (!capabilities.supported()
                || !capabilities.rc().containsAll(Set.of(OdpCapability.SEND, OdpCapability.SRQ_RECV))) {
            throw new IOException("The device isn't ODP capable or does not support RC send, receive and srq with ODP");
        }
        return new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND};
    }

    private void run(List<QueuePair> pairs, SharedReceiveQueue shared, CompletionQueue queue, MemoryRegion buffer)
            throws IOException, InterruptedException {
        int size = options.size();
        ReceiveRequests receives = PingPong.receives(options.depth(), buffer, size);
        SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send().data(buffer, 0, size)
                .inline(size <= pairs.getFirst().capabilities().maxInlineData());
        List<Destination> own = new ArrayList<>();
        for (QueuePair pair : pairs) {
            pair.modify(Rc.resetToInit(options.devicePort(), 0));
            own.add(options.destination(pair));
        }
        // The peer may send as soon as it has our address.
        shared.postReceive(receives, 0, options.depth());
        new Exchange(options, PLACES).run(own, peers -> connect(pairs, own, peers));

        if (options.marksData()) {
            PageMarks.write(buffer.memory());
        }
        new PingPong(options, queue, pairs, more -> shared.postReceive(receives, 0, more),
                i -> pairs.get(i).postSend(send)).run(size);
        if (options.checksData()) {
            PageMarks.check(buffer.memory());
        }
    }

    private void connect(List<QueuePair> pairs, List<Destination> own, List<Destination> peers) throws IOException {
        for (int i = 0; i < pairs.size(); i++) {
            Destination peer = peers.get(i);
            if (peer.equals(Destination.NONE)) {
                throw new IOException("the peer has only " + i + " connections, this side " + pairs.size()
                        + ": start both with the same -q");
            }
            pairs.get(i).modify(Rc.initToRtr(options.pathTo(peer), options.mtu(), peer.queuePair(),
                    peer.packetNumber(), 1, ConnectedOptions.RNR_TIMER));
            pairs.get(i).modify(Rc.rtrToRts(own.get(i).packetNumber(), ConnectedOptions.TIMEOUT,
                    ConnectedOptions.RETRIES, ConnectedOptions.RETRIES, 1));
        }
    }
}
