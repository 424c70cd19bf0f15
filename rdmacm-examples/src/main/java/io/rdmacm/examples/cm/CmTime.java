// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmId;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code cmtime}, as cmtime(1): measures how long each step of connecting and disconnecting takes for many
 * connections. This class holds the options; {@link CmTimeServer} and {@link CmTimeClient} are the two roles,
 * {@link StepTimes} is the table. No data is sent.
 *
 * <p>Unlike in C, the client's exit status is not 0 if a connection failed.
 */
@Command(name = "cmtime", header = "Measures how long each step of connecting takes.",
        description = "The client opens many connections, each step for all of them before the next step, and closes"
                + " them. The server runs until it is interrupted.",
        footer = {"%nFor example, a server, and a client with a hundred connections:", "  rdmacm cmtime",
            "  rdmacm cmtime -s 192.168.99.1 -c 100"})
final class CmTime extends PeerProgram {
    @Option(names = "-s", paramLabel = "ADDR", description = "Run as a client of this server.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address to listen on or to connect from.")
    private String bind;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "100",
            description = "Client: how many connections (${DEFAULT-VALUE}).")
    int connections;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-r", paramLabel = "COUNT", defaultValue = "2",
            description = "Client: how often to retry resolving an address or a route (${DEFAULT-VALUE}).")
    int retries;

    @Option(names = "-t", paramLabel = "MILLISECONDS", defaultValue = "2000",
            description = "Client: the timeout of resolving an address or a route (${DEFAULT-VALUE}).")
    private int resolveTimeout;

    @Override
    protected void run() throws IOException, InterruptedException {
        require(connections >= 1, "Invalid number of connections " + connections);
        require(retries >= 0, "Invalid number of retries " + retries);
        require(resolveTimeout >= 1, "Invalid timeout " + resolveTimeout);
        if (server == null) {
            new CmTimeServer(this).run();
        } else {
            new CmTimeClient(this).run();
        }
    }

    AddressInfo addressToListen() throws RdmaException {
        return AddressFormat.NAME.toListen(bind, port, PortSpace.TCP);
    }

    AddressInfo addressToConnect() throws RdmaException {
        return AddressFormat.NAME.toConnect(server, port, PortSpace.TCP, bind);
    }

    Duration resolveTimeout() {
        return Duration.ofMillis(resolveTimeout);
    }

    /** Creates a queue pair as rdma_create_qp(3) does by default: each queue with a channel of its own. */
    static void createQueuePair(CmId id, ProtectionDomain domain, Resources open) throws IOException {
        VerbsContext device = id.context();
        CompletionChannel received = open.add(device.createCompletionChannel());
        CompletionChannel sent = open.add(device.createCompletionChannel());
        open.add(id.createQueuePair(domain, QueuePairInitAttributes.builder()
                .receiveCompletionQueue(open.add(device.createCompletionQueue(1, received)))
                .sendCompletionQueue(open.add(device.createCompletionQueue(1, sent)))
                .maxSendRequests(1).maxReceiveRequests(1).build()));
    }
}
