// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.AddressHandle;
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
import io.rdmacm.verbs.queue.QueuePairTransitions.Ud;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_ud_pingpong}, as ibv_ud_pingpong(1): sends datagrams back and forth. The queue pair is not
 * connected: each datagram names its destination, and its data follows 40 bytes of header in the receiver's buffer.
 */
@Command(name = "ibv_ud_pingpong", sortOptions = false, header = "Ping-pong with unreliable datagrams.",
        description = "Sends datagrams back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_ud_pingpong -g 1 -c", "  rdmacm ibv_ud_pingpong -g 1 -c 192.168.99.1"})
public final class IbvUdPingpong implements Callable<Integer> {
    // struct ibv_grh
    private static final int HEADER = 40;
    private static final int QUEUE_KEY = 0x11111111;

    @Mixin
    private PingPongOptions options;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "1024",
            description = "The length of a datagram (${DEFAULT-VALUE}), at most the MTU.")
    private int size;

    /** Created by picocli. */
    public IbvUdPingpong() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check();
        options.require(size >= 1, "Invalid size " + size);
        try (VerbsContext context = options.openDevice()) {
            int mtu = context.queryPort(options.devicePort()).activeMtu();
            if (size > mtu) {
                throw new IOException("Requested size larger than port MTU (" + mtu + ")");
            }
            run(context);
        }
        return 0;
    }

    private void run(VerbsContext context) throws IOException, InterruptedException {
        int depth = options.depth();
        try (CompletionChannel channel = options.createChannel(context);
                CompletionQueue queue = options.createQueue(context, channel, depth + 1);
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion buffer = domain.allocate(HEADER + size, AccessFlag.LOCAL_WRITE);
                QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UD)
                        .completionQueue(queue).maxSendRequests(1).maxReceiveRequests(depth).build())) {
            MemorySegment message = buffer.memory().asSlice(HEADER);
            PageMarks.erase(message);
            ReceiveRequests receives = PingPong.receives(depth, buffer, HEADER + size);

            pair.modify(Ud.resetToInit(options.devicePort(), 0, QUEUE_KEY));
            // The peer may send as soon as it has our address.
            pair.postReceive(receives, 0, depth);
            Destination own = options.destination(pair);
            Destination peer = new Exchange(options, 1).run(List.of(own), peers -> {
                pair.modify(Ud.initToRtr());
                pair.modify(Ud.rtrToRts(own.packetNumber()));
            }).getFirst();

            try (AddressHandle address = domain.createAddressHandle(options.pathTo(peer))) {
                SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send()
                        .datagram(address, peer.queuePair(), QUEUE_KEY).data(buffer, HEADER, size)
                        .inline(size <= pair.capabilities().maxInlineData());
                if (options.marksData()) {
                    PageMarks.write(message);
                }
                new PingPong(options, queue, List.of(pair), count -> pair.postReceive(receives, 0, count),
                        only -> pair.postSend(send)).run(size);
                if (options.checksData()) {
                    PageMarks.check(message);
                }
            }
        }
    }
}
