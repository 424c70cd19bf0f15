// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
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
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.efa.EfaDeviceAttributes;
import io.rdmacm.verbs.efa.EfaQueuePair;
import io.rdmacm.verbs.efa.EfaTransitions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code efa_pingpong}: sends messages back and forth between SRD queue pairs of two EFA devices. SRD is
 * reliable but not connected: each message names its destination, as a datagram does, and is as long as the device
 * allows. EFA has no connection manager, so the addresses are exchanged by TCP, as in the other ping-pongs.
 *
 * <p>Not run on a card: the tests run it over a stand-in for the kernel and the card.
 */
@Command(name = "efa_pingpong", sortOptions = false, header = "Ping-pong over SRD, the transport of EFA.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm efa_pingpong -c", "  rdmacm efa_pingpong -c 192.168.99.1"})
public final class EfaPingpong implements Callable<Integer> {
    private static final int QUEUE_KEY = 0x11111111;

    @Mixin
    private PingPongOptions options;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "4096",
            description = "The length of a message (${DEFAULT-VALUE}).")
    private int size;

    /** Created by picocli. */
    public EfaPingpong() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check();
        options.require(size >= 1, "Invalid size " + size);
        try (VerbsContext context = options.openDevice(EfaPingpong::isEfa, "an EFA device")) {
            long longest = context.queryPort(options.devicePort()).maxMessageSize();
            if (size > longest) {
                throw new IOException("Requested size larger than the longest message (" + longest + ")");
            }
            run(context);
        }
        return 0;
    }

    private static boolean isEfa(VerbsContext context) throws RdmaException {
        try {
            EfaDeviceAttributes.query(context);
            return true;
        } catch (RdmaUnsupportedException e) {
            return false;
        }
    }

    private void run(VerbsContext context) throws IOException, InterruptedException {
        int depth = options.depth();
        try (CompletionChannel channel = options.createChannel(context);
                CompletionQueue queue = options.createQueue(context, channel, depth + 1);
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion buffer = domain.allocate(size, AccessFlag.LOCAL_WRITE);
                QueuePair pair = EfaQueuePair.create(domain, QueuePairInitAttributes.builder()
                        .type(QueuePairType.DRIVER).completionQueue(queue).maxSendRequests(1)
                        .maxReceiveRequests(depth).sendOperations(List.of(SendOperation.SEND)).build())) {
            PageMarks.erase(buffer.memory());
            ReceiveRequests receives = PingPong.receives(depth, buffer, size);
            pair.modify(EfaTransitions.resetToInit(options.devicePort(), 0, QUEUE_KEY));
            // The peer may send as soon as it has our address.
            pair.postReceive(receives, 0, depth);
            Destination own = new Destination(0, pair.number(), 0,
                    context.queryGid(options.devicePort(), options.gidIndexOrFirst()));
            Destination peer = new Exchange(options, 1).run(List.of(own), peers -> {
                pair.modify(EfaTransitions.initToRtr());
                pair.modify(EfaTransitions.rtrToRts(own.packetNumber()));
            }).getFirst();

            try (AddressHandle address = domain.createAddressHandle(AddressAttributes.builder()
                    .port(options.devicePort()).globalRoute(peer.gid(), options.gidIndexOrFirst()).build())) {
                if (options.marksData()) {
                    PageMarks.write(buffer.memory());
                }
                new PingPong(options, queue, List.of(pair), count -> pair.postReceive(receives, 0, count),
                        only -> send(pair, address, peer.queuePair(), buffer)).run(size);
                if (options.checksData()) {
                    PageMarks.check(buffer.memory());
                }
            }
        }
    }

    private void send(QueuePair pair, AddressHandle address, int number, MemoryRegion buffer) throws RdmaException {
        try (SendBatch batch = pair.startBatch()) {
            batch.id(PingPong.SEND).send(buffer, 0, size).datagram(address, number, QUEUE_KEY);
            batch.complete();
        }
    }
}
