// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.SendFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code rdma_client}, as rdma_client(1): the synchronous calls, from connect to disconnect. It sends a
 * message of 16 bytes, all zero as in C, and waits for the one that {@link RdmaServer} sends back.
 */
@Command(name = "rdma_client", sortOptions = false, header = "Connects, sends and receives with the synchronous calls.",
        description = "Sends a message to rdma_server and receives one.",
        footer = {"%nFor example:", "  rdmacm rdma_client -s 192.168.99.1"})
public final class RdmaClient implements Callable<Integer> {
    @Option(names = "-s", paramLabel = "ADDR", defaultValue = "127.0.0.1",
            description = "The server's address or name (${DEFAULT-VALUE}).")
    private String server;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}).")
    private String port;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public RdmaClient() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Duration limit = timeout.duration();
        console.print("rdma_client: start");
        AddressInfo address = AddressInfo.resolve(server, port, AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
        // Resolves address and route, and creates the queue pair with its completion queues.
        try (Arena arena = Arena.ofConfined();
                Endpoint endpoint = Endpoint.create(address, ShortMessages.ATTRIBUTES, limit)) {
            MemoryRegion memory = endpoint.registerMessages(arena.allocate(2 * ShortMessages.SIZE));
            Set<SendFlag> flags = ShortMessages.flags(endpoint, "rdma_client", console);
            // Before the connection is established, so that the answer finds a receive request.
            endpoint.postReceive(0, memory, ShortMessages.SIZE, ShortMessages.SIZE);
            endpoint.connect(ConnectionParameters.defaults(), limit);
            endpoint.postSend(0, memory, 0, ShortMessages.SIZE, flags);
            // The answer shows whether the message arrived.
            ShortMessages.checkLastSend(endpoint.getSendCompletion(limit));
            ShortMessages.checkReceived(endpoint.getReceiveCompletion(limit));
            endpoint.disconnect(limit);
        }
        console.print("rdma_client: end 0");
        return 0;
    }
}
