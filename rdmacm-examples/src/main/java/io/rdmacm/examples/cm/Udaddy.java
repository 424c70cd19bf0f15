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
import io.rdmacm.examples.support.Resources;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.error.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * udaddy(1): datagrams between queue pairs that the connection manager has introduced to each other. This class has the
 * options; {@link UdaddyServer} and {@link UdaddyClient} are the two roles, {@link DatagramNode} is one queue pair.
 *
 * <p>As in C the port is fixed: it is 7174. Other than in C, a lost datagram does not keep the programs waiting for
 * ever, and both sides are to be given the same -c, -C and -S.
 */
@Command(name = "udaddy", sortOptions = false, header = "Datagrams, sent and answered.",
        description = "The clients send their messages, the server sends as many back to each.",
        footer = {"%nFor example, a server, and a client that sends a hundred messages:",
            "  rdmacm udaddy -C 100", "  rdmacm udaddy -s 192.168.99.1 -C 100"})
public final class Udaddy implements Callable<Integer> {
    private static final String PORT = "7174";
    private static final int MOST_TYPE_OF_SERVICE = 255;

    @Option(names = "-s", paramLabel = "ADDR", description = "Be the client of the server at this address.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The address of this machine to listen at, or to come from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "What the addresses are: name (the default), ip, ipv6 or gid.")
    private AddressFormat format;

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "udp",
            description = "The port space: udp (the default) or ipoib.")
    private PortSpace space;

    @Option(names = "-p", paramLabel = "NUMBER", converter = NumberConverter.class,
            description = "The port space by its number: 0x111 for udp, 2 for ipoib.")
    private Integer spaceNumber;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1",
            description = "How many queue pairs on each side (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages to and fro on each (${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100",
            description = "Bytes of a message (${DEFAULT-VALUE}), at most the path's MTU; 0 for no messages.")
    private int size;

    @Option(names = "-t", paramLabel = "TOS", converter = NumberConverter.class,
            description = "The client: the type of service, 0 to 255.")
    private Integer typeOfService;

    @Mixin
    private Patience patience;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public Udaddy() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, messages >= 0, "Invalid number of messages " + messages);
        Usage.require(spec, size >= 0, "Invalid size " + size);
        Usage.requireRange(spec, "type of service", typeOfService, MOST_TYPE_OF_SERVICE);
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

    /** How many messages; a size of 0 is for none. */
    int messages() {
        return size == 0 ? 0 : messages;
    }

    Duration patience() {
        return patience.duration();
    }

    DatagramNode node(CmId id, Resources open) throws IOException {
        return new DatagramNode(id, messages(), size, open);
    }

    /** Sets what is due before the route is resolved. */
    void setTypeOfService(CmId id) throws RdmaException {
        if (typeOfService != null) {
            id.options().typeOfService(typeOfService);
        }
    }
}
