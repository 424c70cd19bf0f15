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
import io.rdmacm.examples.support.Resources;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code udaddy}, as udaddy(1): datagrams between queue pairs that find each other through the connection
 * manager. This class holds the options; {@link UdaddyServer} and {@link UdaddyClient} are the two roles,
 * {@link DatagramNode} is one queue pair.
 *
 * <p>As in C, the port is always 7174. Unlike in C, the programs do not wait forever for a lost datagram, and both
 * sides need the same -c, -C and -S.
 */
@Command(name = "udaddy", sortOptions = false, header = "Exchanges datagrams.",
        description = "The clients send their messages; the server sends each as many back.",
        footer = {"%nFor example, a server, and a client that sends a hundred messages:",
            "  rdmacm udaddy -C 100", "  rdmacm udaddy -s 192.168.99.1 -C 100"})
public final class Udaddy implements Callable<Integer> {
    private static final String PORT = "7174";
    private static final int MAX_TYPE_OF_SERVICE = 255;

    @Option(names = "-s", paramLabel = "ADDR", description = "Run as a client of this server.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address to listen on or to connect from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "The format of the addresses: name (the default), ip, ipv6 or gid.")
    private AddressFormat format;

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "udp",
            description = "The port space: udp (the default) or ipoib.")
    private PortSpace space;

    @Option(names = "-p", paramLabel = "NUMBER", converter = NumberConverter.class,
            description = "The number of the port space: 0x111 for udp, 2 for ipoib.")
    private Integer spaceNumber;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1",
            description = "How many queue pairs on each side (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages each of them sends and receives (${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100",
            description = "The length of a message in bytes (${DEFAULT-VALUE}), at most the MTU; 0 for no messages.")
    private int size;

    @Option(names = "-t", paramLabel = "TOS", converter = NumberConverter.class,
            description = "Client: the type of service, 0 to 255.")
    private Integer typeOfService;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Udaddy() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, messages >= 0, "Invalid number of messages " + messages);
        Usage.require(spec, size >= 0, "Invalid size " + size);
        Usage.requireRange(spec, "type of service", typeOfService, MAX_TYPE_OF_SERVICE);
        space = DatagramSpaces.choose(spec, spaceNumber, space);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        if (server == null) {
            new UdaddyServer(this, console).run();
        } else {
            new UdaddyClient(this, console).run();
        }
        console.print("test complete");
        console.print("return status 0");
        return 0;
    }

    PortSpace space() {
        return space;
    }

    AddressInfo addressToListen() throws RdmaException {
        return format.toListen(bind, PORT, space);
    }

    AddressInfo addressToConnect() throws RdmaException {
        return format.toConnect(server, PORT, space, bind);
    }

    int connections() {
        return connections;
    }

    /** Returns how many messages to transfer; none if their size is 0. */
    int messages() {
        return size == 0 ? 0 : messages;
    }

    Duration timeout() {
        return timeout.duration();
    }

    DatagramNode node(CmId id, Resources open) throws IOException {
        return new DatagramNode(id, messages(), size, open);
    }

    /** Sets the type of service, which has to be done before the route is resolved. */
    void setTypeOfService(CmId id) throws RdmaException {
        if (typeOfService != null) {
            id.options().typeOfService(typeOfService);
        }
    }
}
