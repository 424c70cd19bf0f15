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
import io.rdmacm.examples.support.Patience;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * ucmatose(1): reliable connections, with messages to and fro. This class has the options; {@link UcmatoseServer} and
 * {@link UcmatoseClient} are the two roles, {@link UcmatoseNode} is one connection.
 *
 * <p>The messages are of no particular content. Other than in C, a failed completion ends the program, and so does a
 * message of another size than -S: both sides are to be given the same -c, -C and -S.
 */
@Command(name = "ucmatose", sortOptions = false, header = "Reliable connections: messages to and fro.",
        description = "The server waits for all clients and sends its messages, the clients send as many back.",
        footer = {"%nFor example, a server, and a client that makes three connections to it:",
            "  rdmacm ucmatose -c 3", "  rdmacm ucmatose -s 192.168.99.1 -c 3"})
public final class Ucmatose implements Callable<Integer> {
    private static final int MOST_TYPE_OF_SERVICE = 255;
    private static final int MOST_ACK_TIMEOUT = 31;

    @Option(names = "-s", paramLabel = "ADDR", description = "Be the client of the server at this address.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The address of this machine to listen at, or to come from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "What the addresses are: name (the default), ip, ipv6 or gid.")
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
            description = "Bytes of a message (${DEFAULT-VALUE}); 0 for no messages.")
    private int size;

    @Option(names = "-t", paramLabel = "TOS", converter = NumberConverter.class,
            description = "The client: the type of service, 0 to 255.")
    private Integer typeOfService;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private String port;

    @Option(names = "-m", description = "Move the connections to another event channel after the messages.")
    private boolean migrate;

    @Option(names = "-a", paramLabel = "EXPONENT", converter = NumberConverter.class,
            description = "How long a queue pair waits for an acknowledgement: 4.096 microseconds times two to the"
                    + " power of this, 0 to 31; 0 for without end.")
    private Integer ackTimeout;

    @Mixin
    private Patience patience;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public Ucmatose() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, space == PortSpace.TCP || space == PortSpace.IB, "Invalid port space " + space
                + ": tcp or ib");
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, messages >= 0, "Invalid number of messages " + messages);
        Usage.require(spec, size >= 0, "Invalid size " + size);
        Usage.requireRange(spec, "type of service", typeOfService, MOST_TYPE_OF_SERVICE);
        Usage.requireRange(spec, "acknowledgement timeout", ackTimeout, MOST_ACK_TIMEOUT);
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

    /** How many messages; a size of 0 is for none. */
    int messages() {
        return size == 0 ? 0 : messages;
    }

    int size() {
        return size;
    }

    boolean migrates() {
        return migrate;
    }

    Duration patience() {
        return patience.duration();
    }

    /** Sets what is due before the route is resolved. */
    void setTypeOfService(CmId id) throws RdmaException {
        if (typeOfService != null) {
            id.options().typeOfService(typeOfService);
        }
    }

    /** Sets what is due before the connection is there. */
    void setAckTimeout(CmId id) throws RdmaException {
        if (ackTimeout != null) {
            id.options().ackTimeout(AckTimeout.ofCode(ackTimeout));
        }
    }
}
