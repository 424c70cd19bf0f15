// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.List;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.NumberConverter;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.address.AckTimeout;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code ucmatose}, as ucmatose(1): messages over reliable connections, in both directions.
 * {@link TransferProgram} establishes the connections, {@link Node} is one of them.
 */
@Command(name = "ucmatose", header = "Exchanges messages over reliable connections.",
        description = "The server waits for all connections and sends its messages; the clients send as many back.",
        footer = {"%nFor example, a server, and a client with three connections:",
            "  rdmacm ucmatose -c 3", "  rdmacm ucmatose -s 192.168.99.1 -c 3"})
final class Ucmatose extends TransferProgram {
    private static final int MAX_ACK_TIMEOUT = 31;

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "tcp",
            description = "The port space: tcp (the default) or ib.")
    private PortSpace space;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-m", description = "Migrate the connections to another event channel after the messages.")
    private boolean migrate;

    @Option(names = "-a", paramLabel = "EXPONENT", converter = NumberConverter.class,
            description = "The acknowledgement timeout of a queue pair: 4.096 microseconds times two to the power of"
                    + " this, 0 to 31; 0 for no timeout.")
    private Integer ackTimeout;

    // null if nothing migrates
    private EventChannel second;

    Ucmatose() {
        super("cmatose");
    }

    @Override
    PortSpace space() {
        require(space == PortSpace.TCP || space == PortSpace.IB, "Invalid port space " + space + ": tcp or ib");
        requireRange("acknowledgement timeout", ackTimeout, MAX_ACK_TIMEOUT);
        return space;
    }

    @Override
    String port() {
        return port;
    }

    @Override
    void prepare(Resources open) throws IOException {
        second = migrate ? open.add(EventChannel.open()) : null;
    }

    @Override
    void setOptions(CmId id) throws IOException {
        if (ackTimeout != null) {
            id.options().ackTimeout(AckTimeout.ofCode(ackTimeout));
        }
    }

    @Override
    ConnectionParameters.Builder clientParameters() {
        return ConnectionParameters.builder().responderResources(1).initiatorDepth(1).retryCount(5).rnrRetryCount(0);
    }

    @Override
    void serve(EventChannel channel, CmId listener, List<Node> nodes, Resources open)
            throws IOException, InterruptedException {
        awaitEstablished(channel, nodes);
        try (DisconnectHandler disconnects = new DisconnectHandler(channel, nodes.size())) {
            if (hasMessages()) {
                step("initiating data transfers", nodes, Node::postSends);
                step("completing sends", nodes, node -> node.awaitSends(timeout()));
                step("receiving data transfers", nodes, node -> node.awaitReceives(timeout(), timeout()));
                print("data transfers complete");
            }
            migrate(channel, listener, nodes, disconnects);
            step("cmatose: disconnecting", nodes, node -> node.id().disconnect());
            disconnects.await(timeout());
            print("disconnected");
        }
    }

    @Override
    void use(EventChannel channel, List<Node> nodes, Resources open) throws IOException, InterruptedException {
        awaitEstablished(channel, nodes);
        try (DisconnectHandler disconnects = new DisconnectHandler(channel, nodes.size())) {
            if (hasMessages()) {
                step("receiving data transfers", nodes, node -> node.awaitReceives(timeout(), timeout()));
                step("sending replies", nodes, Node::postSends);
                print("data transfers complete");
            }
            migrate(channel, null, nodes, disconnects);
            disconnects.await(timeout());
        }
    }

    private void awaitEstablished(EventChannel channel, List<Node> nodes) throws IOException, InterruptedException {
        for (Node node : nodes) {
            channel.await(node.id(), CmEventType.ESTABLISHED, timeout()).close();
        }
    }

    private void migrate(EventChannel channel, CmId listener, List<Node> nodes, DisconnectHandler disconnects)
            throws IOException {
        if (second != null) {
            print("migrating to new event channel");
            if (listener != null) {
                listener.migrate(second);
            }
            disconnects.migrate(nodes.stream().map(Node::id).toList(), second);
            channel.close();
        }
    }
}
