// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code apm_example}: the automatic path migration of the manual (8.1). Between machines with two paths,
 * a connection is configured with the second path in advance; when the first one fails, the device migrates by itself,
 * and no message is lost. Here a client sends messages, which the server sends back, and migrates halfway through.
 *
 * <p>It uses the synchronous calls.
 */
@Command(name = "apm_example", sortOptions = false, header = "Automatic path migration during an exchange of messages.",
        description = "Path migration exists on InfiniBand only. Elsewhere all messages use the primary path, and the"
                + " program prints what was refused and exits with status 1.",
        footer = {"%nFor example, a server, and a client on another machine that migrates to its second port:",
            "  rdmacm apm_example -s -a 192.168.99.1 --alt-port 2",
            "  rdmacm apm_example -a 192.168.99.1 --alt-port 2 --alt-lid 7"})
public final class ApmExample implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Set<SendFlag> SIGNALED = EnumSet.of(SendFlag.SIGNALED);
    private static final int MESSAGE = 64;

    @Option(names = "-s", description = "Run as the server; by default as the client.")
    private boolean server;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "Server: the address to listen on. Client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}); with 0, the server chooses a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "Client: how many messages to send (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "--alt-port", paramLabel = "N", defaultValue = "0",
            description = "The device port of the alternate path; by default that of the primary path.")
    private int alternatePort;

    @Option(names = "--alt-lid", paramLabel = "LID", defaultValue = "0",
            description = "The destination LID of the alternate path; by default that of the primary path.")
    private int alternateLid;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private Console console;
    // null if an alternate path is armed
    private IOException refusal;

    /** Created by picocli. */
    public ApmExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, server || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, count >= 2, "Invalid count " + count + " (one before and one after, at least)");
        Usage.require(spec, alternatePort >= 0 && alternatePort <= 255, "Invalid port of the device " + alternatePort);
        Usage.require(spec, alternateLid >= 0 && alternateLid <= 0xffff, "Invalid LID " + alternateLid);
        console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        InetSocketAddress where = new InetSocketAddress(address, port);
        if (server) {
            serve(where);
        } else {
            send(where);
        }
        return 0;
    }

    private void serve(InetSocketAddress where) throws IOException, InterruptedException {
        try (Endpoint listener = Endpoint.createPassive(where, PortSpace.TCP, EndpointAttributes.defaults())) {
            listener.listen(1);
            console.print("listening on port " + listener.localAddress().getPort());
            try (Endpoint endpoint = listener.getRequest(FOREVER);
                    MemoryRegion buffer = endpoint.protectionDomain().allocate(MESSAGE, AccessFlag.LOCAL_WRITE)) {
                endpoint.postReceive(0, buffer, 0, MESSAGE);
                endpoint.accept(ConnectionParameters.defaults(), TIMEOUT);
                QueuePair pair = endpoint.queuePair().orElseThrow();
                // Both sides have to arm their alternate path before either can migrate.
                arm(pair);
                int messages = 0;
                // an empty message ends the exchange
                for (int length = receive(endpoint); length > 0; length = receive(endpoint)) {
                    endpoint.postReceive(0, buffer, 0, MESSAGE);
                    send(endpoint, buffer, length);
                    messages++;
                }
                send(endpoint, buffer, 0);
                console.print("sent back " + messages + " messages");
                requireArmed();
            }
        }
    }

    private void send(InetSocketAddress where) throws IOException, InterruptedException {
        try (Endpoint endpoint = Endpoint.createActive(where, PortSpace.TCP, EndpointAttributes.defaults(), TIMEOUT);
                MemoryRegion out = endpoint.protectionDomain().allocate(MESSAGE);
                MemoryRegion in = endpoint.protectionDomain().allocate(MESSAGE, AccessFlag.LOCAL_WRITE)) {
            endpoint.connect(ConnectionParameters.defaults(), TIMEOUT);
            QueuePair pair = endpoint.queuePair().orElseThrow();
            arm(pair);
            for (int message = 0; message < count; message++) {
                if (message == count / 2 && refusal == null) {
                    console.print("migrating to the alternate path");
                    AlternatePaths.migrate(pair, TIMEOUT);
                    console.print("migrated");
                }
                out.memory().setString(0, "message " + message);
                endpoint.postReceive(0, in, 0, MESSAGE);
                send(endpoint, out, MESSAGE);
                receive(endpoint);
                if (in.memory().mismatch(out.memory()) >= 0) {
                    throw new IOException("message " + message + " came back different");
                }
            }
            endpoint.postReceive(0, in, 0, MESSAGE);
            send(endpoint, out, 0);
            receive(endpoint);
            console.print(count + " messages came back");
            endpoint.disconnect(TIMEOUT);
            requireArmed();
        }
    }

    /** Arms the alternate path. If the device refuses, the connection stays usable. */
    private void arm(QueuePair pair) throws RdmaException {
        try {
            AlternatePaths.arm(pair, alternatePort, alternateLid);
            console.print("armed: " + pair.query().attributes().alternatePath());
        } catch (RdmaException e) {
            refusal = new IOException("the messages stayed on one path: " + AlternatePaths.explain(pair, e), e);
            console.print("no alternate path: " + e.getMessage());
        }
    }

    private void requireArmed() throws IOException {
        if (refusal != null) {
            throw refusal;
        }
    }

    private static void send(Endpoint endpoint, MemoryRegion buffer, int length)
            throws IOException, InterruptedException {
        endpoint.postSend(0, buffer, 0, length, SIGNALED);
        check(endpoint.getSendCompletion(TIMEOUT));
    }

    /** Receives a message, and returns its length. */
    private static int receive(Endpoint endpoint) throws IOException, InterruptedException {
        return check(endpoint.getReceiveCompletion(TIMEOUT)).byteLength();
    }

    private static WorkCompletion check(WorkCompletion completion) throws IOException {
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection in the middle of the messages");
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
        return completion;
    }
}
