// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.List;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Resources;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code udaddy}, as udaddy(1): datagrams between queue pairs that find each other through the connection
 * manager. {@link TransferProgram} introduces them, {@link Node} is one of them.
 *
 * <p>As in C, the port is always 7174. Unlike in C, the programs do not wait forever for a lost datagram.
 */
@Command(name = "udaddy", header = "Exchanges datagrams.",
        description = "The clients send their messages; the server sends each as many back.",
        footer = {"%nFor example, a server, and a client that sends a hundred messages:",
            "  rdmacm udaddy -C 100", "  rdmacm udaddy -s 192.168.99.1 -C 100"})
final class Udaddy extends TransferProgram {
    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "udp",
            description = "The port space: udp (the default) or ipoib.")
    private PortSpace space;

    @Option(names = "-p", paramLabel = "NUMBER", converter = NumberConverter.class,
            description = "The number of the port space: 0x111 for udp, 2 for ipoib.")
    private Integer spaceNumber;

    Udaddy() {
        super("udaddy");
    }

    @Override
    PortSpace space() {
        PortSpace chosen = Node.datagramSpace(spaceNumber, space);
        require(chosen != null, "Invalid port space " + (spaceNumber == null ? space : spaceNumber)
                + ": udp (0x111) or ipoib (2)");
        return chosen;
    }

    @Override
    String port() {
        return "7174";
    }

    @Override
    void serve(EventChannel channel, CmId listener, List<Node> nodes, Resources open)
            throws IOException, InterruptedException {
        if (hasMessages()) {
            step("receiving data transfers", nodes, node -> node.awaitReceives(timeout(), timeout()));
            step("sending replies", nodes, node -> {
                node.sendToSender(open);
                node.postSends();
            });
            for (Node node : nodes) {
                node.awaitSends(timeout());
            }
            print("data transfers complete");
        }
    }

    @Override
    void use(EventChannel channel, List<Node> nodes, Resources open) throws IOException, InterruptedException {
        for (Node node : nodes) {
            try (CmEvent answer = channel.await(node.id(), CmEventType.ESTABLISHED, timeout())) {
                node.sendTo(answer.datagramParameters(), open);
            }
        }
        if (hasMessages()) {
            step("initiating data transfers", nodes, Node::postSends);
            step("receiving data transfers", nodes, node -> {
                node.awaitReceives(timeout(), timeout());
                node.awaitSends(timeout());
            });
            print("data transfers complete");
        }
    }
}
