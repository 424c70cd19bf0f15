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
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code rdma_xserver}, as rdma_xserver(1): receives one message of 16 bytes from {@link RdmaXclient}. Only
 * reliable connections are supported, not XRC.
 *
 * <p>It receives through a shared receive queue, which the C program creates for XRC only; on the wire there is no
 * difference. As in C, the private data of the accept holds the number of that queue, which only XRC uses: 0.
 */
@Command(name = "rdma_xserver", sortOptions = false, header = "Receives a message through a shared receive queue.",
        description = "Accepts one rdma_xclient, and receives its message.",
        footer = {"%nFor example:", "  rdmacm rdma_xserver -c r"})
public final class RdmaXserver implements Callable<Integer> {
    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-c", paramLabel = "TYPE", defaultValue = "r", description = TransportChoice.DESCRIPTION)
    private String type;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public RdmaXserver() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Duration limit = timeout.duration();
        TransportChoice.requireReliable(spec, type);
        console.print("rdma_xserver: start");
        AddressInfo here = AddressInfo.resolve(null, port, AddressInfo.Hints.passive(PortSpace.TCP)).getFirst();
        // Without attributes: the client's queue pair is created below, after its shared receive queue.
        try (Endpoint listener = Endpoint.create(here, null, limit)) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(PeerTimeout.FOREVER)) {
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
        // Posted to the shared receive queue, because the endpoint has one.
        client.postReceive(0, message, 0, ShortMessages.SIZE);
        byte[] queueNumber = ByteBuffer.allocate(Integer.BYTES).putInt(0).array();
        client.accept(ConnectionParameters.builder().privateData(queueNumber).responderResources(0).initiatorDepth(0)
                .retryCount(0).rnrRetryCount(0).build(), limit);
        ShortMessages.checkReceived(client.getReceiveCompletion(limit));
        client.disconnect(limit);
    }
}
