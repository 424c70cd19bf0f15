// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code event_client}: the event loop of a client, from ADDR_RESOLVED to DISCONNECTED. */
@Command(name = "event_client", sortOptions = false, header = "The client of the event-driven server.",
        description = "Writes a text into the server's memory, and reads it back.",
        footer = {"%nFor example:", "  rdmacm event_client 192.168.99.1 7472 -m 'good morning' -C 100"})
public final class EventClient implements Callable<Integer> {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    // leaves room for the number of the round, and for the prefix that the server adds
    private static final int LONGEST_TEXT = PeerConnection.TEXT - 64;

    @Parameters(index = "0", paramLabel = "ADDR", converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Parameters(index = "1", paramLabel = "PORT", description = "The port that the server printed.")
    private int port;

    @Option(names = "-m", paramLabel = "TEXT", defaultValue = "hello from far away",
            description = "What to write (${DEFAULT-VALUE}).")
    private String text;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "1",
            description = "How often to write and read it (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private Console console;
    // null until the address is resolved
    private PeerConnection connection;

    /** Created by picocli. */
    public EventClient() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, port != 0, "a client needs the server's port");
        Usage.require(spec, rounds >= 1, "Invalid count " + rounds);
        Usage.require(spec, text.getBytes(StandardCharsets.UTF_8).length <= LONGEST_TEXT,
                "the text is longer than " + LONGEST_TEXT + " bytes");
        console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.resolveAddress(new InetSocketAddress(address, port), RESOLVE_TIMEOUT);
            try {
                boolean connected = true;
                while (connected) {
                    connected = handleEvent(channel);
                }
            } finally {
                if (connection != null) {
                    connection.close();
                }
            }
        }
        if (connection.failure() != null) {
            throw connection.failure();
        }
        if (!connection.isComplete()) {
            throw new IOException("the server ended the connection before it had answered");
        }
        return 0;
    }

    /** Handles the next event, and returns whether more events will come. */
    private boolean handleEvent(EventChannel channel) throws IOException, InterruptedException {
        // The kernel has a timeout for each step, so each ends with an event.
        try (CmEvent event = channel.getEvent(FOREVER)) {
            switch (event.type()) {
                case ADDR_RESOLVED -> onAddressResolved(event.id());
                case ROUTE_RESOLVED -> event.id().connect(ConnectionParameters.defaults());
                case ESTABLISHED -> connection.offerMemory();
                case DISCONNECTED -> {
                    return false;
                }
                case ADDR_ERROR, ROUTE_ERROR, REJECTED, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL ->
                    throw event.failure("connecting to " + address.getHostAddress() + " port " + port);
                default -> {
                    // does not concern a connection
                }
            }
            return true;
        }
    }

    /** Creates the resources of the connection, as it is now known through which device the server is reached. */
    private void onAddressResolved(CmId id) throws RdmaException {
        console.print("the server is reached through " + id.context().deviceName());
        connection = PeerConnection.create(id, new ClientProtocol(text, rounds, console));
        id.resolveRoute(RESOLVE_TIMEOUT);
    }
}
