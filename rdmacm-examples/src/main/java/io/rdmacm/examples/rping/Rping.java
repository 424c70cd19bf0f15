// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * rping(1): a client offers some bytes, the server reads them from the client's memory and writes them back. Client and
 * server work with those of rdma-core too. This class has the options; {@link RpingServer} and {@link RpingClient} are
 * the two roles.
 */
@Command(name = "rping", sortOptions = false, header = "Ping-pong with RDMA reads and writes.",
        description = "The client offers its memory; the server reads the ping from it and writes it back.",
        footer = {"%nFor example, a server, and a client on another machine that pings it ten times:",
            "  rdmacm rping -s -v", "  rdmacm rping -c -a 192.168.99.1 -v -C 10"})
public final class Rping implements Callable<Integer> {
    // What the C program demands: room for the beginning of a ping; and a server's size must suit all clients.
    private static final int LEAST_SIZE = 23;
    private static final int MOST_SIZE = 65_535;

    @Option(names = "-s", description = "Be the server.")
    private boolean server;

    @Option(names = "-c", description = "Be the client.")
    private boolean client;

    @Option(names = "-a", paramLabel = "ADDR", converter = HostConverter.class,
            description = "The server: where to listen, every IPv4 address if not given (:: for every IPv6 address)."
                    + " The client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-I", paramLabel = "ADDR", converter = HostConverter.class,
            description = "The client: the address of this machine to come from.")
    private InetAddress source;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174",
            description = "The server's port (${DEFAULT-VALUE}); a server given 0 takes a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "0",
            description = "How many pings the client sends; 0, as if not given, for pings without end.")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "Bytes of a ping (${DEFAULT-VALUE}); the server's must be at least the client's.")
    private int size;

    @Option(names = "-v", description = "Print the data of each ping.")
    private boolean verbose;

    @Option(names = "-V", description = "The client: verify the data that comes back.")
    private boolean verify;

    @Option(names = "-d", description = "Print each step.")
    private boolean debug;

    @Option(names = "-P", description = "The server: serve any number of clients, also at once, without end.")
    private boolean persistent;

    @Option(names = "-q", description = "Make the queue pair without the connection manager's help, and bring it from"
            + " state to state.")
    private boolean ownQueuePair;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public Rping() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), debug);
        if (server) {
            new RpingServer(this, console).run();
        } else {
            new RpingClient(this, console).run();
        }
        return 0;
    }

    /** The server's address: where to listen, or to connect to. */
    InetSocketAddress address() throws UnknownHostException {
        return new InetSocketAddress(address == null ? InetAddress.getByName("0.0.0.0") : address, port);
    }

    /** The client's own address; null for any. */
    InetSocketAddress source() {
        return source == null ? null : new InetSocketAddress(source, 0);
    }

    int size() {
        return size;
    }

    /** Whether a client that has done so many pings has done enough. */
    boolean isEnough(int pings) {
        return count != 0 && pings >= count;
    }

    boolean isVerbose() {
        return verbose;
    }

    boolean verifies() {
        return verify;
    }

    boolean isPersistent() {
        return persistent;
    }

    boolean makesOwnQueuePair() {
        return ownQueuePair;
    }

    private void check() {
        Usage.require(spec, server != client, "either -s or -c: be the server or the client");
        Usage.require(spec, size >= LEAST_SIZE && size <= MOST_SIZE,
                "Invalid size " + size + " (valid range is " + LEAST_SIZE + " to " + MOST_SIZE + ")");
        Usage.require(spec, count >= 0, "Invalid count " + count);
        Usage.requirePort(spec, port);
        Usage.require(spec, server || address != null, "a client needs the server's address: -a ADDR");
        Usage.require(spec, server || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, server || !persistent, "-P is for servers");
    }
}
