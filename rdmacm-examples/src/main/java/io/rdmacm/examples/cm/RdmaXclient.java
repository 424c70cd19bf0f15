// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code rdma_xclient}, as rdma_xclient(1): sends one message of 16 bytes to {@link RdmaXserver}. Only
 * reliable connections are supported, not XRC.
 */
@Command(name = "rdma_xclient", sortOptions = false, header = "Sends a message to rdma_xserver.",
        description = "Connects, and sends one message.",
        footer = {"%nFor example:", "  rdmacm rdma_xclient -s 192.168.99.1 -c r"})
public final class RdmaXclient implements Callable<Integer> {
    @Option(names = "-s", paramLabel = "ADDR", defaultValue = "127.0.0.1",
            description = "The server's address or name (${DEFAULT-VALUE}).")
    private String server;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}).")
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
    public RdmaXclient() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Duration limit = timeout.duration();
        TransportChoice.requireReliable(spec, type);
        console.print("rdma_xclient: start");
        AddressInfo address = AddressInfo.resolve(server, port, AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
        try (Arena arena = Arena.ofConfined();
                Endpoint endpoint = Endpoint.create(address, ShortMessages.ATTRIBUTES, limit)) {
            MemoryRegion message = endpoint.registerMessages(arena.allocate(ShortMessages.SIZE));
            endpoint.connect(ConnectionParameters.defaults(), limit);
            endpoint.postSend(0, message, 0, ShortMessages.SIZE,
                    ShortMessages.flags(endpoint, "rdma_xclient", console));
            ShortMessages.check(endpoint.getSendCompletion(limit));
            endpoint.disconnect(limit);
        }
        console.print("rdma_xclient: end 0");
        return 0;
    }
}
