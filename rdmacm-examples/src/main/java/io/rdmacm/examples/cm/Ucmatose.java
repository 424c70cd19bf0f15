// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.List;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.CmIdState;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.ProgramThread;
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
    void serve(EventChannel channel, CmId listener, List<Node> nodes, Resources open)
            throws IOException, InterruptedException {
        List<ProgramThread> watches = awaitEstablished(channel, nodes, open);
        if (hasMessages()) {
            step("initiating data transfers", nodes, Node::postSends);
            step("completing sends", nodes, node -> node.awaitSends(timeout()));
            step("receiving data transfers", nodes, node -> node.awaitReceives(timeout(), timeout()));
            print("data transfers complete");
        }
        if (migrate) {
            listener.migrate(second);
            watches = migrate(channel, nodes, watches, open);
        }
        step("cmatose: disconnecting", nodes, node -> node.id().disconnect());
        awaitDisconnected(watches);
        print("disconnected");
    }

    @Override
    void use(EventChannel channel, List<Node> nodes, Resources open) throws IOException, InterruptedException {
        List<ProgramThread> watches = awaitEstablished(channel, nodes, open);
        if (hasMessages()) {
            step("receiving data transfers", nodes, node -> node.awaitReceives(timeout(), timeout()));
            step("sending replies", nodes, Node::postSends);
            print("data transfers complete");
        }
        awaitDisconnected(migrate ? migrate(channel, nodes, watches, open) : watches);
    }

    private List<ProgramThread> awaitEstablished(EventChannel channel, List<Node> nodes, Resources open)
            throws IOException, InterruptedException {
        for (Node node : nodes) {
            channel.await(node.id(), CmEventType.ESTABLISHED, timeout()).close();
        }
        return watch(nodes, open);
    }

    private List<ProgramThread> watch(List<Node> nodes, Resources open) {
        List<ProgramThread> watches = nodes.stream().map(node -> new ProgramThread("disconnect-watch", () -> {
            // Before a migration, the watch that it ended may have taken the event.
            if (node.id().state() != CmIdState.DISCONNECTED) {
                node.id().channel().await(node.id(), CmEventType.DISCONNECTED, FOREVER).close();
            }
            // Flushes all posted requests: a wait for messages of a peer that has gone ends.
            node.id().disconnect();
        })).toList();
        watches.forEach(watch -> open.onClose(watch::close));
        return watches;
    }

    private List<ProgramThread> migrate(EventChannel channel, List<Node> nodes, List<ProgramThread> watches,
            Resources open) throws IOException {
        print("migrating to new event channel");
        // An id cannot migrate while one of its events is open.
        watches.forEach(ProgramThread::close);
        for (Node node : nodes) {
            node.id().migrate(second);
        }
        channel.close();
        return watch(nodes, open);
    }

    private void awaitDisconnected(List<ProgramThread> watches) throws IOException, InterruptedException {
        for (ProgramThread watch : watches) {
            if (!watch.await(timeout())) {
                throw new IOException("a connection was not disconnected within " + timeout().toSeconds()
                        + " seconds");
            }
        }
    }
}
