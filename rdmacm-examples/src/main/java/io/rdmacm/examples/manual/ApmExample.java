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
 * The example of automatic path migration of the manual (8.1). A connection between machines that have two paths to
 * each other names the second one beforehand; when the first fails the device goes over by itself, and no message is
 * lost. Here a client sends messages, which the server sends back, and goes over in the middle of them.
 *
 * <p>It uses the synchronous calls: each waits for what it began.
 */
@Command(name = "apm_example", sortOptions = false, header = "Automatic path migration, in the middle of messages.",
        description = "Paths migrate on InfiniBand only. Elsewhere the messages stay on their one path, and the program"
                + " tells what was refused, with the status 1.",
        footer = {"%nFor example, a server, and a client on another machine that goes over to its second port:",
            "  rdmacm apm_example -s -a 192.168.99.1 --alt-port 2",
            "  rdmacm apm_example -a 192.168.99.1 --alt-port 2 --alt-lid 7"})
public final class ApmExample implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Set<SendFlag> SIGNALED = EnumSet.of(SendFlag.SIGNALED);
    private static final int MESSAGE = 64;

    @Option(names = "-s", description = "Be the server; if not given, the client.")
    private boolean server;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server: where to listen. The client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}); a server given 0 takes a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "The client: how many messages (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "--alt-port", paramLabel = "N", defaultValue = "0",
            description = "The port of this device that the alternate path begins at; that of the first path if not"
                    + " given.")
    private int alternatePort;

    @Option(names = "--alt-lid", paramLabel = "LID", defaultValue = "0",
            description = "The local identifier that the alternate path leads to; that of the first path if not given.")
    private int alternateLid;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private Console console;
    // null when an alternate path is armed
    private IOException refusal;

    /** Made by picocli. */
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
            try (Endpoint endpoint = listener.getRequest(FOR_EVER);
                    MemoryRegion buffer = endpoint.protectionDomain().allocate(MESSAGE, AccessFlag.LOCAL_WRITE)) {
                endpoint.postReceive(0, buffer, 0, MESSAGE);
                endpoint.accept(ConnectionParameters.defaults(), PATIENCE);
                QueuePair pair = endpoint.queuePair().orElseThrow();
                // Both sides must have armed their alternate path before it can be gone over to.
                arm(pair);
                int messages = 0;
                // The empty message is the last one.
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
        try (Endpoint endpoint = Endpoint.createActive(where, PortSpace.TCP, EndpointAttributes.defaults(), PATIENCE);
                MemoryRegion out = endpoint.protectionDomain().allocate(MESSAGE);
                MemoryRegion in = endpoint.protectionDomain().allocate(MESSAGE, AccessFlag.LOCAL_WRITE)) {
            endpoint.connect(ConnectionParameters.defaults(), PATIENCE);
            QueuePair pair = endpoint.queuePair().orElseThrow();
            arm(pair);
            for (int message = 0; message < count; message++) {
                if (message == count / 2 && refusal == null) {
                    console.print("going over to the alternate path");
                    AlternatePaths.goOver(pair, PATIENCE);
                    console.print("gone over");
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
            endpoint.disconnect(PATIENCE);
            requireArmed();
        }
    }

    /** Names the alternate path. When that is refused, the connection is as good as before. */
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
        check(endpoint.getSendCompletion(PATIENCE));
    }

    /** The length of the next message. */
    private static int receive(Endpoint endpoint) throws IOException, InterruptedException {
        return check(endpoint.getReceiveCompletion(PATIENCE)).byteLength();
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
