// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Patience;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * rdma_xserver(1): receives one message of 16 bytes from {@link RdmaXclient}.
 *
 * <p>It receives through a shared receive queue, which C makes for XRC only; on the wire that is the same. The client
 * is told the number of that queue, which only XRC has a use for: 0, as in C.
 */
@Command(name = "rdma_xserver", sortOptions = false, header = "Receives a message over a connection of some type.",
        description = "Takes the connection of one rdma_xclient, and receives a message through a shared queue.",
        footer = {"%nFor example:", "  rdmacm rdma_xserver -c r"})
public final class RdmaXserver implements Callable<Integer> {
    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-c", paramLabel = "TYPE", defaultValue = "r", description = TransportChoice.DESCRIPTION)
    private String type;

    @Mixin
    private Patience patience;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public RdmaXserver() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Duration limit = patience.duration();
        TransportChoice.requireReliable(spec, type);
        console.print("rdma_xserver: start");
        AddressInfo here = AddressInfo.resolve(null, port, AddressInfo.Hints.passive(PortSpace.TCP)).getFirst();
        // Without attributes: the queue pairs of its clients are made below, after their shared queues.
        try (Endpoint listener = Endpoint.create(here, null, limit)) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(Patience.FOR_EVER)) {
                client.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(1).build());
                client.createQueuePair(ShortMessages.ATTRIBUTES);
                receive(client, arena, limit);
            }
        }
        console.print("rdma_xserver: end 0");
        return 0;
    }

    private static void receive(Endpoint client, Arena arena, Duration limit) throws IOException, InterruptedException {
        MemoryRegion message = client.registerMessages(arena.allocate(ShortMessages.SIZE));
        // Goes to the shared queue, as the endpoint has one.
        client.postReceive(0, message, 0, ShortMessages.SIZE);
        byte[] queueNumber = ByteBuffer.allocate(Integer.BYTES).putInt(0).array();
        client.accept(ConnectionParameters.builder().privateData(queueNumber).responderResources(0).initiatorDepth(0)
                .retryCount(0).rnrRetryCount(0).build(), limit);
        ShortMessages.checkReceived(client.getReceiveCompletion(limit));
        client.disconnect(limit);
    }
}
