// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.examples.support.Resources;
import picocli.CommandLine.Option;

/**
 * What {@link Ucmatose} and {@link Udaddy} have in common: their options, and the steps until all connections are
 * established.
 *
 * <p>Unlike in C, a failed completion ends the program, and so does a message whose length is not -S: both sides need
 * the same -c, -C and -S.
 */
abstract class TransferProgram extends PeerProgram {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);
    private static final int MAX_TYPE_OF_SERVICE = 255;

    private final String prefix;

    @Option(names = "-s", paramLabel = "ADDR", description = "Run as a client of this server.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address to listen on or to connect from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "The format of the addresses: name (the default), ip, ipv6 or gid.")
    private AddressFormat format;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1",
            description = "How many connections, the same on both sides (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages each side sends on each connection (${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100",
            description = "The length of a message in bytes (${DEFAULT-VALUE}), a datagram's at most the MTU; 0 for no"
                    + " messages.")
    private int size;

    @Option(names = "-t", paramLabel = "TOS", converter = NumberConverter.class,
            description = "Client: the type of service, 0 to 255.")
    private Integer typeOfService;

    /** Takes the name that is printed. */
    TransferProgram(String prefix) {
        this.prefix = prefix;
    }

    /** Checks the options, and returns the port space. */
    abstract PortSpace space();

    abstract String port();

    /** Sets the options of an id, before its route is resolved or its request is accepted. */
    void setOptions(CmId id) throws IOException {
        // none by default
    }

    /** Exchanges the messages on all connections that a server has accepted. */
    abstract void serve(EventChannel channel, CmId listener, List<Node> nodes, Resources open)
            throws IOException, InterruptedException;

    /** Exchanges the messages on all connections of a client. */
    abstract void use(EventChannel channel, List<Node> nodes, Resources open) throws IOException, InterruptedException;

    /** Opens what has to be closed after all connections. */
    void prepare(Resources open) throws IOException {
        // nothing by default
    }

    @Override
    protected void run() throws IOException, InterruptedException {
        require(connections >= 1, "Invalid number of connections " + connections);
        require(messages >= 0, "Invalid number of messages " + messages);
        require(size >= 0, "Invalid size " + size);
        requireRange("type of service", typeOfService, MAX_TYPE_OF_SERVICE);
        PortSpace space = space();
        print(prefix + ": starting " + (server == null ? "server" : "client"));
        try (Resources open = new Resources()) {
            prepare(open);
            EventChannel channel = open.add(EventChannel.open());
            if (server == null) {
                CmId listener = open.add(CmId.open(channel, space));
                listener.bindAddress(format.toListen(bind, port(), space).source().orElseThrow());
                listener.listen(0);
                serve(channel, listener, acceptAll(channel, listener, open), open);
            } else {
                AddressInfo address = format.toConnect(server, port(), space, bind);
                print(prefix + ": connecting");
                use(channel, connectAll(channel, address, space, open), open);
            }
        }
        print("test complete");
        print("return status 0");
    }

    private List<Node> acceptAll(EventChannel channel, CmId listener, Resources open)
            throws IOException, InterruptedException {
        List<Node> nodes = new ArrayList<>();
        while (nodes.size() < connections) {
            try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, FOREVER)) {
                CmId id = open.add(request.id());
                Node node = node(id, open);
                setOptions(id);
                node.postReceives();
                // For datagrams this ends the handshake: it tells the peer the number of the queue pair.
                id.accept(ConnectionParameters.defaults());
                nodes.add(node);
            }
        }
        return nodes;
    }

    private List<Node> connectAll(EventChannel channel, AddressInfo address, PortSpace space, Resources open)
            throws IOException, InterruptedException {
        List<Node> nodes = new ArrayList<>();
        while (nodes.size() < connections) {
            CmId id = open.add(CmId.open(channel, space));
            id.resolveAddress(address.source().orElse(null), address.destination().orElseThrow(), RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, timeout()).close();
            if (typeOfService != null) {
                id.options().typeOfService(typeOfService);
            }
            setOptions(id);
            id.resolveRoute(RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ROUTE_RESOLVED, timeout()).close();
            Node node = node(id, open);
            node.postReceives();
            // Datagrams take the private data only.
            id.connect(ConnectionParameters.builder().responderResources(1).initiatorDepth(1).retryCount(5)
                    .rnrRetryCount(0).privateData(address.connectData()).build());
            nodes.add(node);
        }
        return nodes;
    }

    private Node node(CmId id, Resources open) throws IOException {
        return new Node(id, hasMessages() ? messages : 0, size, open);
    }

    /** Returns whether there are messages to exchange; there are none of 0 bytes. */
    boolean hasMessages() {
        return messages > 0 && size > 0;
    }

    /** Prints a step, and does something with each connection. */
    void step(String title, List<Node> nodes, Step step) throws IOException, InterruptedException {
        print(title);
        for (Node node : nodes) {
            step.run(node);
        }
    }

    /** Does something with a connection. */
    @FunctionalInterface
    interface Step {
        void run(Node node) throws IOException, InterruptedException;
    }
}
