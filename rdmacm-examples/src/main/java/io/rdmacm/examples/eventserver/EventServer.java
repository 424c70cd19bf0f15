// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
import picocli.CommandLine.Spec;

/**
 * The command {@code event_server}: an event loop. It gives each client some memory to write and read, and writes an
 * answer into the client's memory when the client is done. The loop never waits for a client, so it serves any number
 * of them at once.
 */
@Command(name = "event_server", sortOptions = false, header = "A server with one event loop for all clients.",
        description = "Clients write and read its memory; it prints what they have written.",
        footer = {"%nFor example:", "  rdmacm event_server -a 192.168.99.1 -p 7472"})
public final class EventServer implements Callable<Integer> {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final int BACKLOG = 64;

    @Option(names = "-a", paramLabel = "ADDR", defaultValue = "0.0.0.0", converter = HostConverter.class,
            description = "The address to listen on; by default every IPv4 address.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "0",
            description = "The port; by default a free one, which is printed.")
    private int port;

    @Option(names = "-C", paramLabel = "CLIENTS", defaultValue = "0",
            description = "How many clients to serve; 0 (the default) for no limit.")
    private int clients;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private final Map<CmId, PeerConnection> connections = new HashMap<>();
    private Console console;
    private int served;
    private int failed;

    /** Created by picocli. */
    public EventServer() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, clients >= 0, "Invalid number of clients " + clients);
        console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, port));
            listener.listen(BACKLOG);
            console.print("listening on port " + listener.localPort());
            try {
                while (clients == 0 || served < clients) {
                    handleEvent(channel);
                }
            } finally {
                for (PeerConnection connection : connections.values()) {
                    connection.close();
                }
            }
        }
        return failed == 0 ? 0 : 1;
    }

    private void handleEvent(EventChannel channel) throws IOException, InterruptedException {
        CmId ended = null;
        try (CmEvent event = channel.getEvent(FOREVER)) {
            switch (event.type()) {
                case CONNECT_REQUEST -> onConnectRequest(event.id());
                case ESTABLISHED -> onEstablished(event.id());
                // The peer gave up during the handshake, or disconnected later.
                case REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED, DEVICE_REMOVAL -> ended = event.id();
                default -> {
                    // TIMEWAIT_EXIT: nothing to do
                }
            }
        }
        // An id can be closed only after its events.
        if (ended != null) {
            onEnd(ended);
        }
    }

    private void onConnectRequest(CmId id) throws RdmaException {
        String client = "the client at " + id.peerAddress();
        PeerConnection connection = null;
        try {
            connection = PeerConnection.create(id, new ServerProtocol(client, console));
            id.accept(ConnectionParameters.defaults());
            connections.put(id, connection);
        } catch (RdmaException | IllegalStateException e) {
            // Most likely the client has given up, which the C library reports, or the id if the event has been read.
            console.report("event_server: " + client + " cannot be accepted: " + Console.describe(e));
            if (connection != null) {
                connection.close();
            }
        }
    }

    /** Offers the memory. The client's first message may have arrived before this event; the poller handles it. */
    private void onEstablished(CmId id) throws RdmaException {
        connections.get(id).offerMemory();
    }

    private void onEnd(CmId id) throws RdmaException {
        PeerConnection connection = connections.remove(id);
        if (connection == null) {
            return;
        }
        String client = "the client at " + id.peerAddress();
        connection.close();
        served++;
        IOException failure = connection.failure();
        if (failure != null) {
            failed++;
            console.report("event_server: " + client + ": " + Console.describe(failure));
        } else if (!connection.isComplete()) {
            failed++;
            console.report("event_server: " + client + " left before it was done");
        } else {
            console.print(client + " has left");
        }
    }
}
