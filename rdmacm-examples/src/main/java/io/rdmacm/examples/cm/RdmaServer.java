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
 * The command {@code rdma_server}, as rdma_server(1): the synchronous calls, from listen to disconnect. It serves one
 * client: waits for its message of 16 bytes, and sends one back.
 */
@Command(name = "rdma_server", sortOptions = false, header = "Listens, receives and sends with the synchronous calls.",
        description = "Accepts one rdma_client, receives a message and sends one back.",
        footer = {"%nFor example:", "  rdmacm rdma_server"})
public final class RdmaServer implements Callable<Integer> {
    @Option(names = "-s", paramLabel = "ADDR", defaultValue = "0.0.0.0",
            description = "The address to listen on (${DEFAULT-VALUE}: every IPv4 address).")
    private String address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public RdmaServer() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Duration limit = timeout.duration();
        console.print("rdma_server: start");
        AddressInfo here = AddressInfo.resolve(address, port, AddressInfo.Hints.passive(PortSpace.TCP)).getFirst();
        // The attributes are those of the queue pairs of the endpoints that getRequest returns.
        try (Endpoint listener = Endpoint.create(here, ShortMessages.ATTRIBUTES, limit)) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(PeerTimeout.FOREVER)) {
                serve(client, arena, limit, console);
            }
        }
        console.print("rdma_server: end 0");
        return 0;
    }

    private static void serve(Endpoint client, Arena arena, Duration limit, Console console)
            throws IOException, InterruptedException {
        Set<SendFlag> flags = ShortMessages.flags(client, "rdma_server", console);
        MemoryRegion memory = client.registerMessages(arena.allocate(2 * ShortMessages.SIZE));
        // Before the connection is established, so that the message finds a receive request.
        client.postReceive(0, memory, 0, ShortMessages.SIZE);
        client.accept(ConnectionParameters.defaults(), limit);
        ShortMessages.checkReceived(client.getReceiveCompletion(limit));
        client.postSend(0, memory, ShortMessages.SIZE, ShortMessages.SIZE, flags);
        ShortMessages.checkLastSend(client.getSendCompletion(limit));
        client.disconnect(limit);
    }
}
