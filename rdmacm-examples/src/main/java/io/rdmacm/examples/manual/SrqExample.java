// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code srq_example}: the shared receive queue of the manual (8.3). A server with many connections posts
 * its receives to one queue for all of them, instead of many to each connection, most of which are never used. This
 * class holds the options; {@link SrqServer} and {@link SrqClient} are the two roles.
 */
@Command(name = "srq_example", sortOptions = false, header = "One receive queue for many connections.",
        description = "The client opens some connections and sends messages on each; the server receives all of them"
                + " from one queue, and answers on each connection with the number of its messages.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm srq_example -s -a 192.168.99.1", "  rdmacm srq_example -a 192.168.99.1 -c 8 -C 100"})
public final class SrqExample implements Callable<Integer> {
    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_MESSAGES = 1_000_000;

    @Option(names = "-s", description = "Run as the server; by default as the client.")
    private boolean server;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "Server: the address of an RDMA device to listen on. Client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}); with 0, the server chooses a free one and prints it.")
    private int port;

    @Option(names = "-c", paramLabel = "CONNECTIONS", defaultValue = "4",
            description = "How many connections, the same on both sides (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages on each, the same on both sides (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public SrqExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, server || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, connections >= 1 && connections <= MAX_CONNECTIONS, "Invalid number of connections "
                + connections + " (valid range is 1 to " + MAX_CONNECTIONS + ")");
        Usage.require(spec, count >= 1 && count <= MAX_MESSAGES, "Invalid count " + count + " (valid range is 1 to "
                + MAX_MESSAGES + ")");
        Usage.require(spec, !address.isAnyLocalAddress(), "the address of one RDMA device is needed: -a ADDR");
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        InetSocketAddress where = new InetSocketAddress(address, port);
        if (server) {
            new SrqServer(where, connections, count, console).run();
        } else {
            new SrqClient(where, connections, count, console).run();
        }
        return 0;
    }
}
