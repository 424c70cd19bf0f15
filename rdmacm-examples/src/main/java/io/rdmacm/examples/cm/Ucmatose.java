// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmId;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.NumberConverter;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code ucmatose}, as ucmatose(1): messages over reliable connections, in both directions. This class
 * holds the options; {@link UcmatoseServer} and {@link UcmatoseClient} are the two roles, {@link UcmatoseNode} is one
 * connection.
 *
 * <p>The content of the messages does not matter. Unlike in C, a failed completion ends the program, and so does a
 * message whose length is not -S: both sides need the same -c, -C and -S.
 */
@Command(name = "ucmatose", sortOptions = false, header = "Exchanges messages over reliable connections.",
        description = "The server waits for all connections and sends its messages; the clients send as many back.",
        footer = {"%nFor example, a server, and a client with three connections:",
            "  rdmacm ucmatose -c 3", "  rdmacm ucmatose -s 192.168.99.1 -c 3"})
public final class Ucmatose implements Callable<Integer> {
    private static final int MAX_TYPE_OF_SERVICE = 255;
    private static final int MAX_ACK_TIMEOUT = 31;

    @Option(names = "-s", paramLabel = "ADDR", description = "Run as a client of this server.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address to listen on or to connect from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "The format of the addresses: name (the default), ip, ipv6 or gid.")
    private AddressFormat format;

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "tcp",
            description = "The port space: tcp (the default) or ib.")
    private PortSpace space;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1",
            description = "How many connections (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages each side sends on each connection (${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100",
            description = "The length of a message in bytes (${DEFAULT-VALUE}); 0 for no messages.")
    private int size;

    @Option(names = "-t", paramLabel = "TOS", converter = NumberConverter.class,
            description = "Client: the type of service, 0 to 255.")
    private Integer typeOfService;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-m", description = "Migrate the connections to another event channel after the messages.")
    private boolean migrate;

    @Option(names = "-a", paramLabel = "EXPONENT", converter = NumberConverter.class,
            description = "The acknowledgement timeout of a queue pair: 4.096 microseconds times two to the power of"
                    + " this, 0 to 31; 0 for no timeout.")
    private Integer ackTimeout;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Ucmatose() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, space == PortSpace.TCP || space == PortSpace.IB, "Invalid port space " + space
                + ": tcp or ib");
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, messages >= 0, "Invalid number of messages " + messages);
        Usage.require(spec, size >= 0, "Invalid size " + size);
        Usage.requireRange(spec, "type of service", typeOfService, MAX_TYPE_OF_SERVICE);
        Usage.requireRange(spec, "acknowledgement timeout", ackTimeout, MAX_ACK_TIMEOUT);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        if (server == null) {
            new UcmatoseServer(this, console).run();
        } else {
            new UcmatoseClient(this, console).run();
        }
        console.print("test complete");
        console.print("return status 0");
        return 0;
    }

    PortSpace space() {
        return space;
    }

    AddressInfo addressToListen() throws RdmaException {
        return format.toListen(bind, port, space);
    }

    AddressInfo addressToConnect() throws RdmaException {
        return format.toConnect(server, port, space, bind);
    }

    int connections() {
        return connections;
    }

    /** Returns how many messages to transfer; none if their size is 0. */
    int messages() {
        return size == 0 ? 0 : messages;
    }

    int size() {
        return size;
    }

    boolean migrates() {
        return migrate;
    }

    Duration timeout() {
        return timeout.duration();
    }

    /** Sets the type of service, which has to be done before the route is resolved. */
    void setTypeOfService(CmId id) throws RdmaException {
        if (typeOfService != null) {
            id.options().typeOfService(typeOfService);
        }
    }

    /** Sets the acknowledgement timeout, which has to be done before the connection is established. */
    void setAckTimeout(CmId id) throws RdmaException {
        if (ackTimeout != null) {
            id.options().ackTimeout(AckTimeout.ofCode(ackTimeout));
        }
    }
}
