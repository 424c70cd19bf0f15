// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;
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
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.queue.QueuePairTransitions.Uc;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code ibv_uc_pingpong}, as ibv_uc_pingpong(1): sends messages back and forth over an unreliable
 * connection, which does not retransmit lost messages.
 */
@Command(name = "ibv_uc_pingpong", sortOptions = false, header = "Ping-pong over an unreliable connection.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_uc_pingpong -g 1 -c", "  rdmacm ibv_uc_pingpong -g 1 -c 192.168.99.1"})
public final class IbvUcPingpong implements Callable<Integer> {
    @Mixin
    private ConnectedOptions options;

    /** Created by picocli. */
    public IbvUcPingpong() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check();
        int depth = options.depth();
        int size = options.size();
        try (VerbsContext context = options.openDevice();
                CompletionChannel channel = options.createChannel(context);
                CompletionQueue queue = options.createQueue(context, channel, depth + 1);
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion buffer = domain.allocate(size, AccessFlag.LOCAL_WRITE);
                QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UC)
                        .completionQueue(queue).maxSendRequests(1).maxReceiveRequests(depth).build())) {
            PageMarks.erase(buffer.memory());
            ReceiveRequests receives = PingPong.receives(depth, buffer, size);
            SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send().data(buffer, 0, size)
                    .inline(size <= pair.capabilities().maxInlineData());

            pair.modify(Uc.resetToInit(options.devicePort(), 0));
            // The peer may send as soon as it has our address.
            pair.postReceive(receives, 0, depth);
            Destination own = options.destination(pair);
            new Exchange(options, 1).run(List.of(own), peers -> {
                Destination peer = peers.getFirst();
                pair.modify(Uc.initToRtr(options.pathTo(peer), options.mtu(), peer.queuePair(), peer.packetNumber()));
                pair.modify(Uc.rtrToRts(own.packetNumber()));
            });

            if (options.marksData()) {
                PageMarks.write(buffer.memory());
            }
            new PingPong(options, queue, List.of(pair), count -> pair.postReceive(receives, 0, count),
                    only -> pair.postSend(send)).run(size);
            if (options.checksData()) {
                PageMarks.check(buffer.memory());
            }
        }
        return 0;
    }
}
